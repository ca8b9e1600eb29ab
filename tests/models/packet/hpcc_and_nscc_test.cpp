#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tests/models/packet/congestion_rig.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

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
    CHECK(rig.of(0).delivered == std::vector{base_round_trip(site_of(window, links), kFlow) + there});
  }
}

TEST_CASE("HPCC: near and far senders at one port get like shares, by the one round trip of the network") {
  SwitchSpec spec;
  PacketFabric fabric;
  const DeviceIndex middle = fabric.switch_of(spec);
  const LinkIndex down = fabric.cable(middle, fabric.host(), kRate, 1_us);
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
  const Time base = base_round_trip(lone.site(), kFlow);
  const double product = seconds(base) * static_cast<double>(kRate.count());
  const double scale = product / 150e3;  // of 100 Gb/s for 12 us
  const Time target{base.count() * 3 / 4};
  CHECK(control.window(kFlow) == doctest::Approx(1.5 * product / 4160).epsilon(0.01));  // packets of 4160 B

  // Late and marked: by 0.8 of what the average delay is above the target, at most half. It becomes three targets.
  for (int round = 0; round < 20; ++round) { driver.round(control.window(kFlow), true, base + target * 3); }
  CHECK(control.window(kFlow) < 20);
  // A window w that gains g packets for each w that are acknowledged: w^2 grows by 2 g for each packet.
  const auto gain = [&](bool marked, Time delay) {
    const double before = control.window(kFlow);
    double packets = 0;
    for (int round = 0; round < 3; ++round) {
      const std::uint32_t window = control.window(kFlow);
      driver.round(window, marked, base + delay);
      packets += window;
    }
    return (std::pow(control.window(kFlow), 2) - before * before) / (2 * packets) / scale;
  };
  for (int round = 0; round < 3; ++round) { driver.round(control.window(kFlow), false, base + target); }
  CHECK(gain(false, target + 1_us) == doctest::Approx(5).epsilon(0.1));  // late, but not marked: 5 packets
  CHECK(gain(true, target / 2) == 0);                                    // soon, but marked: a queue that may empty
  // Soon and not marked: 4 packets, times target over 12 us, times how far the delay is below the target.
  const double expected = 4 * seconds(target) / 12e-6 / 8;
  CHECK(gain(false, target * 7 / 8) == doctest::Approx(expected).epsilon(0.1));
}

TEST_CASE("NSCC: a window gains 0.15 packets a round trip in any case, scaled by what the path holds") {
  LoneControl lone("nscc", 10, 20_us);
  const Time base = base_round_trip(lone.site(), kFlow);
  Driver driver(*lone.control);
  for (int round = 0; round < 20; ++round) { driver.round(lone.control->window(kFlow), true, base * 3); }
  const double before = lone.control->window(kFlow);
  for (int round = 0; round < 100; ++round) { driver.round(64, true, base + 2_us); }  // soon, but marked
  const double scale = seconds(base) * static_cast<double>(kRate.count()) / 150e3;
  CHECK(lone.control->window(kFlow) - before == doctest::Approx(100 * 0.15 * scale).epsilon(0.05));
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
    const Time base = base_round_trip(site_of(transport("nscc"), links), kFlow);
    const Time there = (kPacket + latency) * 2;
    CHECK(rig.of(flows).delivered.front() - late < there + base);
    Time first = Time::max();
    for (std::uint32_t flow = 0; flow < flows; ++flow) { first = std::min(first, rig.of(flow).delivered.front()); }
    CHECK(seconds(first) > 0.8 * seconds(rig.last_delivery()));
  }
}
