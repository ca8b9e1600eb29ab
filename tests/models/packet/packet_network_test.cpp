#include <doctest/doctest.h>

#include "tests/models/packet/packet_rig.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// 4096 bytes of payload and 64 of header on 10 GB/s: 416 ns a packet.
constexpr Bandwidth kRate = 10_GBps;
constexpr Time kPacket = 416_ns;
constexpr Time kLatency = 500_ns;

/// host - switch - ... - switch - host.
PacketFabric chain(std::uint32_t switches, const SwitchSpec& spec, Bandwidth last_rate = kRate) {
  PacketFabric fabric;
  std::vector<LinkIndex> path;
  DeviceIndex at = fabric.host();
  for (std::uint32_t s = 0; s < switches; ++s) {
    const DeviceIndex next = fabric.switch_of(spec);
    path.push_back(fabric.cable(at, next, kRate, kLatency));
    at = next;
  }
  path.push_back(fabric.cable(at, fabric.host(), last_rate, kLatency));
  fabric.flow(path, Time::zero(), 4_KiB);
  return fabric;
}

}  // namespace

TEST_CASE("a message alone takes its packets on the first link, then one packet and one latency a hop") {
  for (const std::uint32_t switches : {0U, 1U, 3U, 5U}) {
    for (const std::int64_t packets : {1, 2, 100}) {
      const PacketFabric fabric = chain(switches, {});
      PacketRig rig(fabric.plan, {});
      rig.move_at(3_us, 0, 4_KiB * packets);
      rig.simulator.run();
      CAPTURE(switches);
      CAPTURE(packets);
      CHECK(rig.of(0).injected == std::vector{3_us + kPacket * packets});
      CHECK(rig.of(0).grains == std::vector{3_us + (kPacket + kLatency) * (switches + 1)});
      CHECK(rig.of(0).delivered ==
            std::vector{3_us + kPacket * packets + kPacket * switches + kLatency * (switches + 1)});
    }
  }
}

TEST_CASE("a switch that cuts through adds its latency and no packet time") {
  SwitchSpec spec;
  spec.cut_through = true;
  const PacketFabric fabric = chain(3, spec);
  PacketRig rig(fabric.plan, {});
  rig.move_at(Time::zero(), 0, 400_KiB);
  rig.simulator.run();
  CHECK(rig.of(0).delivered == std::vector{kPacket * 100 + kLatency * 4});
}

TEST_CASE("the slowest link sets the pace; cutting through never lets a packet leave before it can") {
  for (const bool cut_through : {false, true}) {
    SwitchSpec spec;
    spec.cut_through = cut_through;
    const PacketFabric fabric = chain(1, spec, 5_GBps);
    PacketRig rig(fabric.plan, {});
    rig.move_at(Time::zero(), 0, 400_KiB);
    rig.simulator.run();
    const Time first = cut_through ? Time::zero() : kPacket;
    CHECK(rig.of(0).delivered == std::vector{first + kPacket * 200 + kLatency * 2});
  }
}

TEST_CASE("an empty message is a packet of headers") {
  const PacketFabric fabric = chain(1, {});
  PacketRig rig(fabric.plan, {});
  rig.move_at(Time::zero(), 0, Bytes::zero());
  rig.simulator.run();
  CHECK(rig.of(0).delivered == std::vector{(6'400_ps + kLatency) * 2});
}

TEST_CASE("a window that is smaller than the path's bandwidth times delay limits the rate to window per round trip") {
  TransportSpec transport;
  transport.window = 16_KiB;
  const PacketFabric fabric = chain(1, {});
  PacketRig rig(fabric.plan, transport);
  rig.move_at(Time::zero(), 0, 4_KiB * 400);
  rig.simulator.run();
  // Packet to the receiver, acknowledgement of 64 bytes back; the fifth packet goes out when the first is acknowledged.
  const Time round = (kPacket + kLatency) * 2 + (6'400_ps + kLatency) * 2;
  CHECK(rig.last_delivery() == round * 99 + kPacket * 3 + (kPacket + kLatency) * 2);
}

TEST_CASE("flows that meet at a port share it evenly, and the port is never idle meanwhile") {
  const PacketFabric fabric = incast(4, {}, kRate, kLatency);
  PacketRig rig(fabric.plan, {});
  for (std::uint32_t flow = 0; flow < 4; ++flow) { rig.move_at(Time::zero(), flow, 400_KiB); }
  rig.simulator.run();
  CHECK(rig.last_delivery() == (kPacket + kLatency) * 2 + kPacket * 399);
  for (std::uint32_t flow = 0; flow < 4; ++flow) {
    CHECK(rig.last_delivery() - rig.of(flow).delivered.front() <= kPacket * 3);
  }
  CHECK(rig.network.switch_counters().longest_queue >= 290 * 4160);  // nothing slows the senders down
}

TEST_CASE("with flow control nothing is lost, and queues stay below the threshold and what is under way") {
  SwitchSpec spec;
  spec.flow_control = FlowControl::pfc;
  spec.pause_above = 40_KiB;
  spec.resume_below = 20_KiB;
  spec.buffer = 320_KiB;
  const PacketFabric fabric = incast(4, spec, kRate, kLatency);
  PacketRig rig(fabric.plan, {});
  for (std::uint32_t flow = 0; flow < 4; ++flow) { rig.move_at(Time::zero(), flow, 4_MiB); }
  rig.simulator.run();
  CHECK(rig.network.switch_counters().dropped == 0);
  CHECK(rig.network.switch_counters().pauses > 0);
  CHECK(rig.network.host_counters().repeated == 0);
  // What arrives after the threshold was passed: a pause frame, two latencies, a packet that had started at each end.
  const std::int64_t headroom = 10 * 1'000 + 2 * 4160 + 128;
  CHECK(rig.network.switch_counters().longest_queue <= 4 * ((40_KiB).count() + headroom));
  CHECK(rig.last_delivery() == (kPacket + kLatency) * 2 + kPacket * (4 * 1024 - 1));  // the port is never idle
}

TEST_CASE("what finds no room is dropped and sent again, in order") {
  SwitchSpec spec;
  spec.queue = 40_KiB;
  TransportSpec transport;
  transport.window = 64_KiB;
  transport.timeout = 100_us;
  const PacketFabric fabric = incast(8, spec, kRate, kLatency);
  PacketRig rig(fabric.plan, transport);
  for (std::uint32_t flow = 0; flow < 8; ++flow) { rig.move_at(Time::zero(), flow, 1_MiB); }
  rig.simulator.run();
  CHECK(rig.network.switch_counters().dropped > 0);
  CHECK(rig.network.host_counters().repeated >= rig.network.switch_counters().dropped);
  for (std::uint32_t flow = 0; flow < 8; ++flow) { CHECK(rig.of(flow).delivered.size() == 1); }
  CHECK(rig.last_delivery() > kPacket * (8 * 256));
}

TEST_CASE("results do not depend on the length of the windows in which switches are worked off") {
  SwitchSpec lossless;
  lossless.flow_control = FlowControl::pfc;
  lossless.pause_above = 30_KiB;
  lossless.resume_below = 25_KiB;
  lossless.marking = {8_KiB, 40_KiB, {1, 2}};
  SwitchSpec lossy;
  lossy.queue = 50_KiB;
  lossy.cut_through = true;
  SwitchSpec credits;
  credits.flow_control = FlowControl::credits;
  credits.lane_buffer = 20_KiB;
  credits.cut_through = true;
  for (const SwitchSpec& spec : {lossless, lossy, credits}) {
    TransportSpec transport;
    transport.control = congestion_control("dcqcn");
    transport.timeout = 150_us;
    const PacketFabric fabric = incast(6, spec, kRate, kLatency);
    std::vector<std::vector<Log::Times>> logs;
    for (const Time window : {Time::max(), 170_ns, 33_ns, 1_ns}) {
      PacketRig rig(fabric.plan, transport, {window});
      Random random(5);
      for (std::uint32_t k = 0; k < 60; ++k) {
        rig.move_at(Time{random.between(0, 200'000'000)}, static_cast<std::uint32_t>(random.between(0, 5)),
                    Bytes{random.between(0, 300'000)});
      }
      rig.simulator.run();
      logs.push_back(rig.log.of);
    }
    for (const auto& log : logs) { CHECK(log == logs.front()); }
  }
}
