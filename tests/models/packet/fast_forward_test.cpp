#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/network/packet/network_parts.hpp"
#include "models/network/packet/settling.hpp"
#include "tests/models/packet/congestion_rig.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

constexpr Ratio kBound{1, 100};

SwitchSpec lossless() {
  SwitchSpec spec;
  spec.flow_control = FlowControl::pfc;
  spec.pause_above = 100_KiB;
  spec.resume_below = 80_KiB;
  spec.marking = {50_KiB, 90_KiB, {1, 5}};
  return spec;
}

/// Two hosts on each side of a cable between two switches; flow i goes from host i of the left to host i of the right.
PacketFabric dumbbell(std::uint32_t pairs) {
  PacketFabric fabric;
  const DeviceIndex left = fabric.switch_of(lossless());
  const DeviceIndex right = fabric.switch_of(lossless());
  const LinkIndex middle = fabric.cable(left, right, kRate, 1_us);
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    const LinkIndex up = fabric.cable(fabric.host(), left, kRate, 1_us);
    fabric.flow({up, middle, fabric.cable(right, fabric.host(), kRate, 1_us)});
  }
  return fabric;
}

/// The same traffic with all packets, and with what has settled skipped.
struct Twice {
  Twice(const PacketTopology& plan, const TransportSpec& spec) : full(plan, spec), skipped(plan, spec) {
    skipped.network.skip_settled(kBound);
  }
  void move_at(Time when, std::uint32_t flow, Bytes size) {
    full.move_at(when, flow, size);
    skipped.move_at(when, flow, size);
  }
  void run() {
    full.simulator.run();
    skipped.simulator.run();
  }
  const SkipCounters& counters() const { return *skipped.network.skip_counters(); }
  std::uint64_t packets() const { return full.network.host_counters().data; }

  PacketRig full, skipped;
};

/// As a share of the first.
double difference(Time a, Time b) { return std::abs(seconds(b) / seconds(a) - 1); }

void check_close(const Twice& twice, std::uint32_t flow, double most = to_double(kBound)) {
  const Log::Times& all = twice.full.of(flow);
  const Log::Times& few = twice.skipped.of(flow);
  REQUIRE(all.delivered.size() == few.delivered.size());
  REQUIRE(all.injected.size() == few.injected.size());
  REQUIRE(all.grains.size() == few.grains.size());
  for (std::size_t k = 0; k < all.delivered.size(); ++k) {
    CHECK(difference(all.delivered[k], few.delivered[k]) <= most);
    CHECK(difference(all.injected[k], few.injected[k]) <= most);
  }
  for (std::size_t k = 0; k < all.grains.size(); ++k) { CHECK(difference(all.grains[k], few.grains[k]) <= most); }
}

void check_carried_alike(const Twice& twice, const PacketTopology& plan) {
  for (const LinkIndex link : plan.links.ids()) {
    CHECK(twice.full.network.carried(link) == twice.skipped.network.carried(link));
  }
}

/// Rows of one flow, each so many picoseconds apart.
SettlingHistory history_of(const std::vector<double>& packets_per_row, Time distance) {
  SettlingHistory history({0}, distance);
  double sent = 0;
  Time now;
  for (const double packets : packets_per_row) {
    sent += packets;
    now += distance;
    history.add({{static_cast<std::uint32_t>(sent), now, 10, 0, false, false}});
  }
  return history;
}

}  // namespace

TEST_CASE("a long flow alone is skipped but for its beginning and its end, and carries every byte") {
  const PacketFabric fabric = dumbbell(1);
  Twice twice(fabric.plan, transport("none", Recovery::go_back_n));
  twice.move_at(3_us, 0, 100_MiB + 1_B);
  twice.run();
  CHECK(twice.counters().packets > twice.packets() * 97 / 100);
  CHECK(twice.counters().packets + twice.skipped.network.host_counters().data == twice.packets());
  check_close(twice, 0, 0.0005);
  check_carried_alike(twice, fabric.plan);
}

TEST_CASE("what is too short to settle is simulated to the bit") {
  const PacketFabric fabric = dumbbell(3);
  Twice twice(fabric.plan, transport("none", Recovery::go_back_n));
  for (std::uint32_t flow = 0; flow < 3; ++flow) { twice.move_at(5_us * flow, flow, 40_KiB); }
  twice.run();
  CHECK(twice.counters().packets == 0);
  for (std::uint32_t flow = 0; flow < 3; ++flow) { CHECK(twice.full.of(flow) == twice.skipped.of(flow)); }
}

TEST_CASE(
    "flows that share a port end as they do packet by packet, and so do those that begin while they are skipped") {
  const PacketFabric fabric = dumbbell(4);
  for (const Time begin : {1_ms, 3'123'456_ns, 9'999'999'999_ps}) {
    Twice twice(fabric.plan, transport("none", Recovery::go_back_n));
    for (std::uint32_t flow = 0; flow < 3; ++flow) { twice.move_at(Time::zero(), flow, 50_MiB); }
    twice.move_at(begin, 3, 50_MiB);
    twice.run();
    CHECK(twice.counters().packets > twice.packets() / 2);
    for (std::uint32_t flow = 0; flow < 4; ++flow) { check_close(twice, flow); }
    check_carried_alike(twice, fabric.plan);
  }
}

TEST_CASE("hosts without switches between them skip, too, and go on at once when a flow begins") {
  PacketFabric fabric;
  fabric.plan.switches.push_back(lossless());  // of no device
  const DeviceIndex middle = fabric.host();
  const LinkIndex on = fabric.cable(middle, fabric.host(), kRate, 1_us);
  for (std::uint32_t flow = 0; flow < 2; ++flow) {
    fabric.flow({fabric.cable(fabric.host(), middle, kRate, 1_us), on});
  }
  Twice twice(fabric.plan, transport("none", Recovery::go_back_n));
  twice.move_at(Time::zero(), 0, 20_MiB);
  twice.move_at(700'001_ns, 1, 1_MiB);
  twice.run();
  CHECK(twice.counters().packets > twice.packets() / 2);
  for (std::uint32_t flow = 0; flow < 2; ++flow) { check_close(twice, flow); }
  check_carried_alike(twice, fabric.plan);
}

TEST_CASE("messages that end while their flow is skipped are told of in time, with their grains, in order") {
  PacketFabric fabric;
  const DeviceIndex middle = fabric.switch_of(lossless());
  fabric.flow({fabric.cable(fabric.host(), middle, kRate, 1_us), fabric.cable(middle, fabric.host(), kRate, 1_us)},
              700_ns, 16_KiB);
  Twice twice(fabric.plan, transport("none", Recovery::go_back_n));
  for (std::uint32_t k = 0; k < 100; ++k) { twice.move_at(Time::zero(), 0, 1_MiB + Bytes{k}); }
  twice.run();
  CHECK(twice.full.of(0).delivered.size() == 100);
  CHECK(twice.full.of(0).grains.size() == 100);
  CHECK(twice.counters().packets > twice.packets() / 2);
  check_close(twice, 0);
  check_carried_alike(twice, fabric.plan);
}

TEST_CASE("a flow that is given more while it is skipped goes on being skipped") {
  const PacketFabric fabric = dumbbell(1);
  Twice twice(fabric.plan, transport("none", Recovery::go_back_n));
  for (PacketRig* rig : {&twice.full, &twice.skipped}) {
    std::uint32_t left = 200;
    rig->log.on_delivered = [rig, left](std::uint32_t) mutable {
      if (left == 0) { return; }
      --left;
      rig->network.move(ConnectionId{0}, 1_MiB);
    };
  }
  for (std::uint32_t k = 0; k < 4; ++k) { twice.move_at(Time::zero(), 0, 1_MiB); }
  twice.run();
  CHECK(twice.full.of(0).delivered.size() == 204);
  CHECK(twice.counters().packets > twice.packets() * 9 / 10);
  CHECK(twice.counters().skips < 20);
  check_close(twice, 0);
}

TEST_CASE("what has arrived is known at any time, also while its flow is skipped") {
  const PacketFabric fabric = dumbbell(2);
  Twice twice(fabric.plan, transport("none", Recovery::go_back_n));
  std::vector<Bytes> all, few;
  for (auto [rig, found] : {std::pair{&twice.full, &all}, {&twice.skipped, &few}}) {
    for (std::uint32_t k = 0; k < 3; ++k) { rig->move_at(Time::zero(), k % 2, 20_MiB); }
    for (std::uint32_t k = 1; k < 100; ++k) {
      rig->script.at(50_us * k, [rig = rig, found = found] {
        found->push_back(*rig->network.arrived(ConnectionId{0}) +
                         20_MiB * static_cast<std::int64_t>(rig->of(0).delivered.size()));
      });
    }
  }
  twice.run();
  CHECK(twice.counters().packets > twice.packets() / 2);
  for (std::size_t k = 0; k < all.size(); ++k) {
    CHECK(std::abs(static_cast<double>((all[k] - few[k]).count())) <= 0.01 * static_cast<double>(all[k].count()));
  }
}

TEST_CASE("parts of a network that have no port in common settle each on its own") {
  PacketFabric fabric;
  for (std::uint32_t part = 0; part < 2; ++part) {
    const DeviceIndex middle = fabric.switch_of(lossless());
    const LinkIndex down = fabric.cable(middle, fabric.host(), kRate, 1_us);
    for (std::uint32_t s = 0; s < 2; ++s) { fabric.flow({fabric.cable(fabric.host(), middle, kRate, 1_us), down}); }
  }
  Twice twice(fabric.plan, transport("none", Recovery::go_back_n));
  twice.move_at(Time::zero(), 0, 50_MiB);
  twice.move_at(Time::zero(), 1, 50_MiB);
  for (std::uint32_t k = 0; k < 400; ++k) { twice.move_at(20_us * k, 2 + k % 2, 8_KiB); }  // never settle
  twice.run();
  CHECK(twice.counters().skips >= 1);
  CHECK(twice.counters().packets > 2 * 50 * 256 * 9 / 10);
  for (std::uint32_t flow = 2; flow < 4; ++flow) { CHECK(twice.full.of(flow) == twice.skipped.of(flow)); }
  check_close(twice, 0);
  check_close(twice, 1);
}

TEST_CASE("the same scenario skips the same, however often it runs") {
  const PacketFabric fabric = dumbbell(4);
  std::vector<Log::Times> before;
  for (int run = 0; run < 2; ++run) {
    PacketRig rig(fabric.plan, transport("dcqcn", Recovery::go_back_n));
    rig.network.skip_settled(kBound);
    for (std::uint32_t flow = 0; flow < 4; ++flow) { rig.move_at(100_us * flow, flow, 40_MiB); }
    rig.simulator.run();
    if (run == 1) { CHECK(before == rig.log.of); }
    before = rig.log.of;
  }
}

TEST_CASE("every control ends its flows, all bytes carried, with what they share used as before") {
  const PacketFabric fabric = dumbbell(4);
  for (const ControlEntry& each : congestion_controls()) {
    const std::string name(each.words.name);
    CAPTURE(name);
    for (const Recovery recovery : {Recovery::selective, Recovery::go_back_n}) {
      if (each.words.selective_only && recovery == Recovery::go_back_n) { continue; }
      Twice twice(fabric.plan, transport(name, recovery));
      for (std::uint32_t flow = 0; flow < 4; ++flow) { twice.move_at(Time::zero(), flow, 32_MiB); }
      twice.run();
      for (std::uint32_t flow = 0; flow < 4; ++flow) { CHECK(twice.skipped.of(flow).delivered.size() == 1); }
      CHECK(difference(twice.full.last_delivery(), twice.skipped.last_delivery()) <= to_double(kBound));
      check_carried_alike(twice, fabric.plan);
    }
  }
}

TEST_CASE("rates have settled when they stay, not when they rise, wander or stand") {
  const std::vector<double> constant(24, 50);
  CHECK(history_of(constant, 10_us).settled(0.01).has_value());
  const auto settled = history_of(constant, 10_us).settled(0.01);
  CHECK(settled->rates.front().time_of(50) == 10_us);
  std::vector<double> rising;
  for (int k = 0; k < 24; ++k) { rising.push_back(50 + k); }
  CHECK_FALSE(history_of(rising, 10_us).settled(0.01).has_value());
  std::vector<double> wandering;
  for (int k = 0; k < 24; ++k) { wandering.push_back(k % 5 < 2 ? 30 : 70); }
  CHECK_FALSE(history_of(wandering, 10_us).settled(0.01).has_value());
  CHECK_FALSE(history_of(std::vector<double>(24, 0), 10_us).settled(0.01).has_value());
  CHECK_FALSE(history_of(std::vector<double>(15, 50), 10_us).settled(0.01).has_value());
}

TEST_CASE("a control that moves one way has not settled, whatever the rate, unless it is not what holds the flow") {
  for (const bool held : {true, false}) {
    SettlingHistory history({0}, 10_us);
    for (std::uint32_t k = 0; k < 24; ++k) { history.add({{50 * k, 10_us * k, 10, 100.0 + k, held, false}}); }
    CHECK(history.settled(0.01).has_value() != held);
  }
  SettlingHistory turning({0}, 10_us);
  for (std::uint32_t k = 0; k < 24; ++k) { turning.add({{50 * k, 10_us * k, 10, k % 4 < 2 ? 1.0 : 2.0, true, true}}); }
  CHECK(turning.settled(0.01).has_value());
  SettlingHistory waiting({0}, 10_us);  // for a timer
  for (std::uint32_t k = 0; k < 24; ++k) { waiting.add({{50 * k, 10_us * k, 10, 1.0, true, true}}); }
  CHECK_FALSE(waiting.settled(0.01).has_value());
}

TEST_CASE("what was skipped on some evidence is not skipped on it again") {
  SettlingHistory history = history_of(std::vector<double>(24, 50), 10_us);
  const Time first = history.settled(0.01)->skip;
  history.skip(1_ms, {5'000});
  CHECK(history.settled(0.01)->skip == first - 1_ms);
  CHECK(history.settled(0.01)->rates.front().time_of(50) == 10_us);
}

TEST_CASE("packets within a time, and the time of packets, are each other's inverse") {
  const PacketRate rate{7, 1'000_ps};
  for (std::uint32_t packets = 1; packets < 100; ++packets) {
    CHECK(rate.within(rate.time_of(packets)) == packets);
    CHECK(rate.within(rate.time_of(packets) - 1_ps) == packets - 1);
  }
}

TEST_CASE("flows belong together through ports that they share, also those of acknowledgements") {
  PacketFabric fabric;
  const DeviceIndex middle = fabric.switch_of(lossless());
  std::vector<LinkIndex> up;
  for (std::uint32_t h = 0; h < 6; ++h) { up.push_back(fabric.cable(fabric.host(), middle, kRate, 1_us)); }
  const auto flow = [&](std::uint32_t from, std::uint32_t to) { return fabric.flow({up[from], fabric.back(up[to])}); };
  const ConnectionId there = flow(0, 1);
  const ConnectionId on = flow(1, 2);  // its data leave by the port of the acknowledgements of the first
  const ConnectionId apart = flow(3, 4);
  NetworkParts parts(fabric.plan);
  using Flows = std::vector<ConnectionId>;
  CHECK(parts.of({there, on, apart}) == std::vector<Flows>{{there, on}, {apart}});
  CHECK(parts.of({there, apart}) == std::vector<Flows>{{there}, {apart}});
  CHECK(parts.pattern_of({there}) == parts.pattern_of({apart}));
  CHECK(parts.pattern_of({there, on}) != parts.pattern_of({there, apart}));
  CHECK(parts.links_of({apart}).size() == 4);
}

TEST_CASE("flows are of one kind where symmetry makes their rates equal") {
  const PacketFabric fabric = incast(3, lossless(), kRate, 1_us);
  NetworkParts parts(fabric.plan);
  CHECK(parts.kinds_of({ConnectionId{0}, ConnectionId{1}, ConnectionId{2}}) == std::vector<std::uint32_t>{0, 0, 0});
  CHECK(parts.kinds_of({ConnectionId{0}}) == std::vector<std::uint32_t>{0});
}
