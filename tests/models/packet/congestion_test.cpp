#include <cmath>

#include <doctest/doctest.h>

#include "tests/models/packet/congestion_rig.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

TEST_CASE("slow start doubles a window with each round trip: to the picosecond while the line is not full") {
  PacketFabric fabric;
  const Time latency = 100_us;
  fabric.flow({fabric.cable(fabric.host(), fabric.host(), kRate, latency)});
  for (const char* control : {"newreno", "cubic", "dctcp"}) {
    PacketRig rig(fabric.plan, transport(control));
    rig.move_at(Time::zero(), 0, 4_KiB * 70);  // 10, 20 and 40 packets
    rig.simulator.run();
    const Time round = kPacket + latency + kReply + latency;
    CHECK(rig.of(0).delivered == std::vector{round * 2 + kPacket * 40 + latency});
  }
}

TEST_CASE("NewReno grows by a packet a round trip and halves once for all losses of a window") {
  LoneControl lone("newreno", 100);
  CongestionControl& control = *lone.control;
  Driver driver(control);
  control.lost(kFlow, {50, 100, 100, 0_s});
  CHECK(control.window(kFlow) == 50);
  control.lost(kFlow, {60, 100, 80, 0_s});  // of the same window
  CHECK(control.window(kFlow) == 50);
  for (int round = 0; round < 10; ++round) { driver.round(control.window(kFlow)); }
  CHECK(control.window(kFlow) >= 59);
  CHECK(control.window(kFlow) <= 60);
  control.timed_out(kFlow, {700, 800, 60, 0_s});
  CHECK(control.window(kFlow) == 1);
  driver.round(1);
  CHECK(control.window(kFlow) == 2);  // slow start again
}

TEST_CASE("CUBIC is back at the window of the loss after the cube root of its cut over C") {
  LoneControl lone("cubic", 1000);
  CongestionControl& control = *lone.control;
  control.lost(kFlow, {0, 1000, 1000, 0_s});
  CHECK(control.window(kFlow) == 700);
  Driver driver(control);
  const double back = std::cbrt(1000 * 0.3 / 0.4);  // 9.1 s
  const Time round_trip = 100_ms;
  std::uint32_t at_half = 0;
  while (seconds(driver.now) < back) {
    driver.round(control.window(kFlow), false, round_trip);
    if (seconds(driver.now) < back / 2) { at_half = control.window(kFlow); }
  }
  // W(t) = 0.4 (t - K)^3 + 1000: at K / 2 an eighth of the cut is left.
  CHECK(at_half == doctest::Approx(1000 - 300.0 / 8).epsilon(0.01));
  CHECK(control.window(kFlow) == doctest::Approx(1000).epsilon(0.01));
}

TEST_CASE("DCTCP cuts by half the share of marked packets, which it averages over 16 round trips") {
  LoneControl lone("dctcp", 100);
  CongestionControl& control = *lone.control;
  Driver driver(control);
  driver.round(100, true);
  const std::uint32_t after_one = control.window(kFlow);
  CHECK(after_one < 101);
  for (int round = 0; round < 100; ++round) { driver.round(control.window(kFlow), true); }
  CHECK(control.window(kFlow) == 2);  // all marked: alpha is 1, and half is left each time
}

TEST_CASE("selective recovery repeats what was lost and nothing else") {
  SwitchSpec shallow;
  shallow.queue = 40_KiB;
  const PacketFabric fabric = incast(4, shallow, kRate, 1_us);
  for (const Recovery recovery : {Recovery::selective, Recovery::go_back_n}) {
    TransportSpec spec = transport("newreno", recovery);
    spec.timeout = 1_ms;
    PacketRig rig(fabric.plan, spec);
    for (std::uint32_t flow = 0; flow < 4; ++flow) { rig.move_at(Time::zero(), flow, 4_MiB); }
    rig.simulator.run();
    const std::uint64_t dropped = rig.network.switch_counters().dropped;
    const std::uint64_t repeated = rig.network.host_counters().repeated;
    CHECK(dropped > 0);
    if (recovery == Recovery::selective) {
      CHECK(repeated == dropped);
    } else {
      CHECK(repeated > dropped);
    }
    for (std::uint32_t flow = 0; flow < 4; ++flow) { CHECK(rig.of(flow).delivered.size() == 1); }
  }
}

TEST_CASE("DCTCP keeps the queue at its marks, drops nothing, and shares fairly") {
  SwitchSpec spec;
  spec.marking = {100_KiB, 100_KiB, {1, 1}};
  const PacketFabric fabric = incast(2, spec, kRate, 5_us);
  PacketRig rig(fabric.plan, transport("dctcp"));
  for (std::uint32_t flow = 0; flow < 2; ++flow) { rig.move_at(Time::zero(), flow, 40_MiB); }
  rig.simulator.run();
  CHECK(rig.network.switch_counters().dropped == 0);
  CHECK(rig.network.switch_counters().longest_queue < 400 * 1024);
  const double ideal = seconds(kPacket * 2 * 10240);
  CHECK(seconds(rig.last_delivery()) < ideal * 1.03);
  const Time first = std::min(rig.of(0).delivered[0], rig.of(1).delivered[0]);
  CHECK(seconds(first) > seconds(rig.last_delivery()) * 0.85);
}

TEST_CASE("Swift holds the round trip of an incast near its target without a loss") {
  SwitchSpec spec;
  spec.queue = 4_MiB;
  const PacketFabric fabric = incast(8, spec, kRate, 2_us);
  TransportSpec swift = transport("swift");
  swift.control = control_of("swift", R"({"target": "30us", "scaling": "0us"})");
  PacketRig rig(fabric.plan, swift);
  for (std::uint32_t flow = 0; flow < 8; ++flow) { rig.move_at(Time::zero(), flow, 8_MiB); }
  rig.simulator.run();
  CHECK(rig.network.switch_counters().dropped == 0);
  // 30 us at 10 GB/s are 300 kB in flight; eight initial windows of ten packets are 333 kB.
  CHECK(rig.network.switch_counters().longest_queue < 700'000);
  CHECK(seconds(rig.last_delivery()) < seconds(kPacket * 8 * 2048) * 1.05);
}

TEST_CASE("sprayed packets use all paths evenly, and one flow fills what its hash would have left idle") {
  SwitchSpec spec;
  PacketFabric fabric;
  const DeviceIndex leaf_a = fabric.switch_of(spec);
  const DeviceIndex leaf_b = fabric.switch_of(spec);
  const LinkIndex up = fabric.cable(fabric.host(), leaf_a, kRate, 500_ns);
  const LinkIndex down = fabric.cable(leaf_b, fabric.host(), kRate, 500_ns);
  std::vector<LinkIndex> paths;  // four spines at half of the host's rate
  for (int spine = 0; spine < 4; ++spine) {
    const DeviceIndex middle = fabric.switch_of(spec);
    paths.push_back(fabric.cable(leaf_a, middle, 5_GBps, 500_ns));
    paths.push_back(fabric.cable(middle, leaf_b, 5_GBps, 500_ns));
  }
  fabric.flow({up, paths[0], paths[1], down});
  PacketTopology sprayed = fabric.plan;
  sprayed.flows[ConnectionId{0}].first_hop = static_cast<std::uint32_t>(sprayed.hops.size());
  sprayed.flows[ConnectionId{0}].paths = 4;
  for (int spine = 0; spine < 4; ++spine) {
    sprayed.hops.insert(sprayed.hops.end(), {up, paths[2 * spine], paths[2 * spine + 1], down});
  }
  TransportSpec spec_one = transport("none");
  PacketRig one(fabric.plan, spec_one);
  TransportSpec spec_all = spec_one;
  spec_all.spray = spec_all.any_order = true;
  PacketRig all(sprayed, spec_all);
  for (PacketRig* rig : {&one, &all}) {
    rig->move_at(Time::zero(), 0, 40_MiB);
    rig->simulator.run();
  }
  const double line = seconds(kPacket * 10240);
  CHECK(seconds(one.last_delivery()) > 1.99 * line);  // one path of half the rate
  CHECK(seconds(all.last_delivery()) < 1.01 * line);
  CHECK(all.network.host_counters().repeated == 0);  // order tells nothing
  for (int spine = 0; spine < 4; ++spine) {
    const double share = static_cast<double>(all.network.carried(paths[2 * spine]).count()) / (10240.0 * 4160);
    CHECK(share == doctest::Approx(0.25).epsilon(0.05));
  }
}

TEST_CASE("receivers that ask fill their link in an incast: trimmed packets come once more, and nothing is dropped") {
  SwitchSpec spec;
  spec.queue = 40_KiB;
  spec.trims = true;
  const PacketFabric fabric = incast(16, spec, kRate, 1_us);
  PacketRig rig(fabric.plan, transport("pull"));
  for (std::uint32_t flow = 0; flow < 16; ++flow) { rig.move_at(Time::zero(), flow, 1_MiB); }
  rig.simulator.run();
  const SwitchCounters& switches = rig.network.switch_counters();
  const HostCounters& hosts = rig.network.host_counters();
  CHECK(switches.dropped == 0);
  CHECK(switches.trimmed > 16);  // the first windows, 160 packets, meet a queue of ten
  CHECK(hosts.repeated == switches.trimmed);
  CHECK(hosts.timeouts == 0);
  CHECK(hosts.pulls == 16 * 256 + switches.trimmed - 16 * 10);  // all but the first windows were asked for
  const double ideal = seconds(kPacket * 16 * 256);
  CHECK(seconds(rig.last_delivery()) < ideal * 1.03);
  Time first = Time::max();
  for (std::uint32_t flow = 0; flow < 16; ++flow) { first = std::min(first, rig.of(flow).delivered[0]); }
  CHECK(seconds(first) > 0.8 * ideal);  // all are served in turn
}

TEST_CASE("receivers that ask: messages that follow each other begin without being asked for") {
  PacketFabric fabric;
  fabric.flow({fabric.cable(fabric.host(), fabric.host(), kRate, 100_us)});
  PacketRig rig(fabric.plan, transport("pull"));
  rig.move_at(Time::zero(), 0, 4_KiB * 5);
  rig.move_at(50_us, 0, 4_KiB * 5);  // before the first has arrived
  rig.move_at(1_ms, 0, 4_KiB * 5);   // long after
  rig.simulator.run();
  const Time alone = kPacket * 5 + 100_us;
  CHECK(rig.of(0).delivered == std::vector{alone, alone + 50_us, alone + 1_ms});
  CHECK(rig.network.host_counters().timeouts == 0);
}

TEST_CASE("flows that losses drive share a queue without marks: none is locked out of step with another") {
  for (const char* control : {"newreno", "cubic"}) {
    for (const std::uint32_t flows : {2U, 4U}) {
      CAPTURE(flows);
      SwitchSpec spec;
      spec.queue = 256_KiB;
      const PacketFabric fabric = incast(flows, spec, kRate, 1_us);
      const auto first_of_last = [&](std::optional<Time> jitter) {
        TransportSpec tcp = transport(control);
        tcp.jitter = jitter;
        PacketRig rig(fabric.plan, tcp);
        for (std::uint32_t flow = 0; flow < flows; ++flow) { rig.move_at(Time::zero(), flow, 4_KiB * 20'000); }
        rig.simulator.run();
        Time first = Time::max();
        for (std::uint32_t flow = 0; flow < flows; ++flow) { first = std::min(first, rig.of(flow).delivered.front()); }
        return seconds(first) / seconds(rig.last_delivery());
      };
      CHECK(first_of_last({}) > 0.65);
      CHECK(first_of_last(Time::zero()) < 1.2 / flows);  // hosts that take no time at all: one after the other
    }
  }
}
