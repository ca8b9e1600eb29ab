#include <cmath>

#include <doctest/doctest.h>

#include "models/network/packet/congestion/round_trip.hpp"
#include "models/network/packet/packet_links.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "tests/models/packet/packet_rig.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

using Recovery = TransportSpec::Recovery;

/// 4096 bytes of payload and 64 of header on 10 GB/s: 416 ns a packet; 64 bytes of acknowledgement: 6.4 ns.
constexpr Bandwidth kRate = 10_GBps;
constexpr Time kPacket = 416_ns;
constexpr Time kReply = 6'400_ps;

/// `keys`: of the control's object in a scenario.
std::shared_ptr<const ControlKind> control_of(std::string_view name, const std::string& keys = "{}") {
  const std::shared_ptr<ControlKind> control = congestion_control(name);
  Problems problems;
  read_document(Document::parse(keys, "here"), problems, [&](Fields& fields) { control->visit(fields); });
  REQUIRE(problems.empty());
  return control;
}

TransportSpec transport(std::string_view control, Recovery recovery = Recovery::selective) {
  TransportSpec spec;
  spec.control = control_of(control);
  spec.recovery = recovery;
  spec.jitter = Time::zero();
  return spec;
}

struct Nobody : LinkListener {
  void expect_arrival(std::uint32_t, Time) override {}
  void expect_pause(std::uint32_t, Time) override {}
};

/// The control of one flow between two hosts, whose events the test makes up.
struct LoneControl {
  LoneControl(std::string_view name, std::uint32_t initial_window, Time latency = 1_us, const std::string& keys = "{}")
      : fabric(incast(1, {}, kRate, latency)), links(fabric.plan, nobody), spec(transport(name)) {
    spec.initial_window = spec.payload * initial_window;
    control = control_of(name, keys)->make({spec, {kRate}, links});
  }

  PacketFabric fabric;
  Nobody nobody;
  PacketLinks links;
  TransportSpec spec;
  std::unique_ptr<CongestionControl> control;
};

/// One acknowledgement of one packet after another, a round trip of a second for each window.
struct Driver {
  explicit Driver(CongestionControl& driven) : control(driven) {}

  void round(std::uint32_t packets, bool marked = false, Time round_trip = Time{1'000'000'000'000}) {
    const std::uint32_t sent = there + packets + packets;
    for (std::uint32_t p = 0; p < packets; ++p) {
      now += Time{round_trip.count() / packets};
      control.acknowledged(0, {1, ++there, sent, marked, round_trip, now});
    }
  }

  CongestionControl& control;
  std::uint32_t there = 0;
  Time now;
};

}  // namespace

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
  control.lost(0, {50, 100, 100, 0_s});
  CHECK(control.window(0) == 50);
  control.lost(0, {60, 100, 80, 0_s});  // of the same window
  CHECK(control.window(0) == 50);
  for (int round = 0; round < 10; ++round) { driver.round(control.window(0)); }
  CHECK(control.window(0) >= 59);
  CHECK(control.window(0) <= 60);
  control.timed_out(0, {700, 800, 60, 0_s});
  CHECK(control.window(0) == 1);
  driver.round(1);
  CHECK(control.window(0) == 2);  // slow start again
}

TEST_CASE("CUBIC is back at the window of the loss after the cube root of its cut over C") {
  LoneControl lone("cubic", 1000);
  CongestionControl& control = *lone.control;
  control.lost(0, {0, 1000, 1000, 0_s});
  CHECK(control.window(0) == 700);
  Driver driver(control);
  const double back = std::cbrt(1000 * 0.3 / 0.4);  // 9.1 s
  const Time round_trip = 100_ms;
  std::uint32_t at_half = 0;
  while (seconds(driver.now) < back) {
    driver.round(control.window(0), false, round_trip);
    if (seconds(driver.now) < back / 2) { at_half = control.window(0); }
  }
  // W(t) = 0.4 (t - K)^3 + 1000: at K / 2 an eighth of the cut is left.
  CHECK(at_half == doctest::Approx(1000 - 300.0 / 8).epsilon(0.01));
  CHECK(control.window(0) == doctest::Approx(1000).epsilon(0.01));
}

TEST_CASE("DCTCP cuts by half the share of marked packets, which it averages over 16 round trips") {
  LoneControl lone("dctcp", 100);
  CongestionControl& control = *lone.control;
  Driver driver(control);
  driver.round(100, true);
  const std::uint32_t after_one = control.window(0);
  CHECK(after_one < 101);
  for (int round = 0; round < 100; ++round) { driver.round(control.window(0), true); }
  CHECK(control.window(0) == 2);  // all marked: alpha is 1, and half is left each time
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
  const std::uint32_t leaf_a = fabric.switch_of(spec);
  const std::uint32_t leaf_b = fabric.switch_of(spec);
  const std::uint32_t up = fabric.cable(fabric.host(), leaf_a, kRate, 500_ns);
  const std::uint32_t down = fabric.cable(leaf_b, fabric.host(), kRate, 500_ns);
  std::vector<std::uint32_t> paths;  // four spines at half of the host's rate
  for (int spine = 0; spine < 4; ++spine) {
    const std::uint32_t middle = fabric.switch_of(spec);
    paths.push_back(fabric.cable(leaf_a, middle, 5_GBps, 500_ns));
    paths.push_back(fabric.cable(middle, leaf_b, 5_GBps, 500_ns));
  }
  fabric.flow({up, paths[0], paths[1], down});
  PacketTopology sprayed = fabric.plan;
  sprayed.flows[0].first_hop = static_cast<std::uint32_t>(sprayed.hops.size());
  sprayed.flows[0].paths = 4;
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
    const double share =
        static_cast<double>(all.network.carried(LinkIndex{paths[2 * spine]}).count()) / (10240.0 * 4160);
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

TEST_CASE("HPCC: flows fill a port to the utilisation that the scenario aims at") {
  for (const double aim : {0.5, 0.8, 0.95}) {
    const PacketFabric fabric = incast(2, {}, kRate, 2_us);
    TransportSpec spec = transport("hpcc", Recovery::go_back_n);
    spec.control = control_of("hpcc", R"({"utilisation": )" + std::to_string(aim) + "}");
    PacketRig rig(fabric.plan, spec);
    for (std::uint32_t flow = 0; flow < 2; ++flow) { rig.move_at(Time::zero(), flow, 4_KiB * 10'000); }
    rig.simulator.run();
    CHECK(seconds(kPacket * 20'000) / seconds(rig.last_delivery()) == doctest::Approx(aim).epsilon(0.02));
  }
}

TEST_CASE("HPCC: flows share a port at its target utilisation, and who comes later meets no queue") {
  const Time latency = 2_us;
  for (const std::uint32_t flows : {1U, 2U, 4U}) {
    CAPTURE(flows);
    SwitchSpec spec;
    const PacketFabric fabric = incast(flows + 1, spec, kRate, latency);
    PacketRig rig(fabric.plan, transport("hpcc", Recovery::go_back_n));
    for (std::uint32_t flow = 0; flow < flows; ++flow) { rig.move_at(Time::zero(), flow, 4_KiB * 10'000); }
    const Time late = kPacket * 9'000 * flows;  // all are still sending
    rig.move_at(late, flows, 4_KiB);
    rig.simulator.run();
    const double line = seconds(kPacket * 10'000 * flows);
    CHECK(line / seconds(rig.last_delivery()) == doctest::Approx(0.95).epsilon(0.02));
    // On its way, a packet that had started before it and one that came at the same time.
    const Time alone = (kPacket + latency) * 2;
    CHECK(rig.of(flows).delivered.front() - late <= alone + kPacket * 2);
    for (std::uint32_t flow = 0; flow < flows; ++flow) {
      CHECK(seconds(rig.of(flow).delivered.front()) > 0.75 * seconds(rig.last_delivery()));  // fair in the end
    }
  }
}

TEST_CASE("HPCC: the least round trip is that of a packet and its acknowledgement alone") {
  for (const bool cut_through : {false, true}) {
    SwitchSpec spec;
    spec.cut_through = cut_through;
    PacketFabric fabric = incast(1, spec, kRate, 2_us);
    TransportSpec window = transport("none", Recovery::go_back_n);
    window.window = 4_KiB;  // one packet a round trip
    PacketRig rig(fabric.plan, window);
    rig.move_at(Time::zero(), 0, 4_KiB * 2);
    rig.simulator.run();
    Nobody nobody;
    PacketLinks links(fabric.plan, nobody);
    const Time there = cut_through ? kPacket + 4_us : kPacket * 2 + 4_us;
    CHECK(rig.of(0).delivered == std::vector{base_round_trip(links, 0, window) + there});
  }
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

TEST_CASE("HPCC: near and far senders at one port get like shares, by the one round trip of the network") {
  SwitchSpec spec;
  PacketFabric fabric;
  const std::uint32_t middle = fabric.switch_of(spec);
  const std::uint32_t down = fabric.cable(middle, fabric.host(), kRate, 1_us);
  for (const Time distance : {1_us, 1_us, 6_us, 6_us}) {
    fabric.flow({fabric.cable(fabric.host(), middle, kRate, distance), down});
  }
  PacketRig rig(fabric.plan, transport("hpcc", Recovery::go_back_n));
  for (std::uint32_t flow = 0; flow < 4; ++flow) { rig.move_at(Time::zero(), flow, 4_KiB * 10'000); }
  rig.simulator.run();
  for (std::uint32_t flow = 0; flow < 4; ++flow) {
    CHECK(seconds(rig.of(flow).delivered.front()) > 0.7 * seconds(rig.last_delivery()));
  }
}

TEST_CASE("NSCC: marks and delay tell four states, each with its own change of the window") {
  LoneControl lone("nscc", 10, 20_us, R"({"eta": 0})");
  CongestionControl& control = *lone.control;
  Driver driver(control);
  const Time base = base_round_trip(lone.links, 0, lone.spec);
  const double product = seconds(base) * static_cast<double>(kRate.count());
  const double scale = product / 150e3;  // of 100 Gb/s for 12 us
  const Time target{base.count() * 3 / 4};
  CHECK(control.window(0) == doctest::Approx(1.5 * product / 4160).epsilon(0.01));  // packets of 4160 B

  // Late and marked: by 0.8 of what the average delay is above the target, at most half. It becomes three targets.
  for (int round = 0; round < 20; ++round) { driver.round(control.window(0), true, base + target * 3); }
  CHECK(control.window(0) < 20);
  // A window w that gains g packets for each w that are acknowledged: w^2 grows by 2 g for each packet.
  const auto gain = [&](bool marked, Time delay) {
    const double before = control.window(0);
    double packets = 0;
    for (int round = 0; round < 3; ++round) {
      const std::uint32_t window = control.window(0);
      driver.round(window, marked, base + delay);
      packets += window;
    }
    return (std::pow(control.window(0), 2) - before * before) / (2 * packets) / scale;
  };
  for (int round = 0; round < 3; ++round) { driver.round(control.window(0), false, base + target); }
  CHECK(gain(false, target + 1_us) == doctest::Approx(5).epsilon(0.1));  // late, but not marked: 5 packets
  CHECK(gain(true, target / 2) == 0);                                    // soon, but marked: a queue that may empty
  // Soon and not marked: 4 packets, times target over 12 us, times how far the delay is below the target.
  const double expected = 4 * seconds(target) / 12e-6 / 8;
  CHECK(gain(false, target * 7 / 8) == doctest::Approx(expected).epsilon(0.1));
}

TEST_CASE("NSCC: a window gains 0.15 packets a round trip in any case, scaled by what the path holds") {
  LoneControl lone("nscc", 10, 20_us);
  const Time base = base_round_trip(lone.links, 0, lone.spec);
  Driver driver(*lone.control);
  for (int round = 0; round < 20; ++round) { driver.round(lone.control->window(0), true, base * 3); }
  const double before = lone.control->window(0);
  for (int round = 0; round < 100; ++round) { driver.round(64, true, base + 2_us); }  // soon, but marked
  const double scale = seconds(base) * static_cast<double>(kRate.count()) / 150e3;
  CHECK(lone.control->window(0) - before == doctest::Approx(100 * 0.15 * scale).epsilon(0.05));
}

TEST_CASE("NSCC: senders of an incast share its link evenly, and who comes later waits for less than a round trip") {
  const Time latency = 2_us;
  for (const std::uint32_t flows : {8U, 32U}) {
    CAPTURE(flows);
    SwitchSpec spec;
    spec.queue = 200_KiB;
    spec.trims = true;
    spec.marking = {20_KiB, 80_KiB, Ratio{1}};
    const PacketFabric fabric = incast(flows + 1, spec, kRate, latency);
    PacketRig rig(fabric.plan, transport("nscc"));
    for (std::uint32_t flow = 0; flow < flows; ++flow) { rig.move_at(Time::zero(), flow, 4_KiB * 2'000); }
    const Time late = kPacket * 1'500 * flows;  // all are still sending
    rig.move_at(late, flows, 4_KiB);
    rig.simulator.run();
    CHECK(seconds(rig.last_delivery()) < 1.01 * seconds(kPacket * 2'000 * flows));
    CHECK(rig.network.switch_counters().trimmed < 40 * flows);  // of the first windows, and next to nothing after
    Nobody nobody;
    PacketLinks links(fabric.plan, nobody);
    const Time base = base_round_trip(links, 0, transport("nscc"));
    const Time there = (kPacket + latency) * 2;
    CHECK(rig.of(flows).delivered.front() - late < there + base);
    Time first = Time::max();
    for (std::uint32_t flow = 0; flow < flows; ++flow) { first = std::min(first, rig.of(flow).delivered.front()); }
    CHECK(seconds(first) > 0.8 * seconds(rig.last_delivery()));
  }
}
