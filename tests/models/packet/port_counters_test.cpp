#include <doctest/doctest.h>

#include "tests/models/packet/packet_rig.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

constexpr Bandwidth kRate{10'000'000'000};

SwitchSpec lossy(Bytes queue) {
  SwitchSpec spec;
  spec.queue = queue;
  return spec;
}

SwitchSpec pausing() {
  SwitchSpec spec;
  spec.flow_control = FlowControl::pfc;
  spec.pause_above = 64_KiB;
  spec.resume_below = 32_KiB;
  return spec;
}

/// `senders` flows of 256 KiB into one port, counted.
struct CountedIncast {
  CountedIncast(std::uint32_t senders, const SwitchSpec& spec)
      : fabric(incast(senders, spec, kRate, 1_us)), rig(fabric.plan, TransportSpec{}) {
    rig.network.count_ports();
    for (std::uint32_t flow = 0; flow < senders; ++flow) { rig.move_at(Time::zero(), flow, 256_KiB); }
    rig.simulator.run();
  }
  PortCounters port(LinkIndex link) const { return rig.network.port_counters(link, rig.simulator.now()); }
  template <class Field>
  auto sum(Field PortCounters::*field) const {
    Field total{};
    for (const LinkIndex link : fabric.plan.links.ids()) { total += port(link).*field; }
    return total;
  }

  PacketFabric fabric;
  PacketRig rig;
};

constexpr LinkIndex kDown{0};  // from the switch to the receiver

}  // namespace

TEST_CASE("the counters of all ports add up to those of all devices") {
  SwitchSpec marking = lossy(64_KiB);
  marking.marking = {16_KiB, 32_KiB, {1, 1}};
  SwitchSpec trimming = marking;
  trimming.trims = true;
  for (const SwitchSpec& spec : {marking, trimming, pausing()}) {
    const CountedIncast run(4, spec);
    const SwitchCounters& switches = run.rig.network.switch_counters();
    CHECK(run.sum(&PortCounters::dropped) == switches.dropped);
    CHECK(run.sum(&PortCounters::trimmed) == switches.trimmed);
    CHECK(run.sum(&PortCounters::marked) == switches.marked);
    CHECK(run.sum(&PortCounters::pauses) == switches.pauses);
    CHECK(run.sum(&PortCounters::repeated) == run.rig.network.host_counters().repeated);
    CHECK(run.sum(&PortCounters::arrivals) == switches.forwarded + switches.dropped);
    CHECK(run.port(kDown).longest_queue == switches.longest_queue);
    const std::uint64_t seen = switches.dropped + switches.trimmed + switches.pauses;
    CHECK(seen > 0);
  }
}

TEST_CASE("a port that nobody shares finds no queue, and replies of 64 bytes go back for each packet") {
  const CountedIncast run(1, pausing());
  const PortCounters down = run.port(kDown);
  CHECK(down.arrivals == 64);
  CHECK(down.longest_queue == 0);
  CHECK(down.pauses == 0);
  CHECK(down.paused == Time::zero());
  CHECK(run.port(run.fabric.back(kDown)).replies == 64 * 64);
}

TEST_CASE("senders of an incast are paused for as long as they are slower than their links") {
  const std::uint32_t senders = 4;
  const CountedIncast run(senders, pausing());
  CHECK(run.port(kDown).pauses == 0);
  const Time alone = transfer_time(256_KiB + Bytes{64 * 64}, kRate);
  for (std::uint32_t s = 0; s < senders; ++s) {
    const PortCounters port = run.port(LinkIndex{2 + 2 * s});
    CHECK(port.pauses > 0);
    CHECK(port.stopped == 0);
    // Each has its port's rate for a share of the time until it has sent all, some of it after the last pause.
    CHECK(port.paused < alone * (senders - 1) + 20_us);
    CHECK(port.paused > alone);
  }
}

TEST_CASE("the time of a pause counts once where several classes are stopped, and up to now where one still is") {
  PortCounters port;
  port.told(1, true, 10_us);
  port.told(2, true, 20_us);
  port.told(1, false, 30_us);
  CHECK(port.paused == Time::zero());
  port.told(2, false, 50_us);
  CHECK(port.paused == 40_us);
  CHECK(port.pauses == 2);
}

TEST_CASE("counting changes no result") {
  PacketFabric fabric = incast(4, pausing(), kRate, 1_us);
  Time last[2];
  for (const bool counted : {false, true}) {
    PacketRig rig(fabric.plan, TransportSpec{});
    if (counted) { rig.network.count_ports(); }
    for (std::uint32_t flow = 0; flow < 4; ++flow) { rig.move_at(Time::zero(), flow, 256_KiB); }
    rig.simulator.run();
    last[counted] = rig.last_delivery();
  }
  CHECK(last[0] == last[1]);
}
