#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/models/packet/packet_rig.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// 4096 bytes of payload and 64 of header, 65 blocks of 64 bytes, on 10 GB/s: 416 ns a packet.
constexpr Bandwidth kRate = 10_GBps;
constexpr Time kPacket = 416_ns;
constexpr Time kLatency = 500_ns;
constexpr Bytes kWire{4160};

SwitchSpec credits(Bytes lane_buffer) {
  SwitchSpec spec;
  spec.flow_control = FlowControl::credits;
  spec.lane_buffer = lane_buffer;
  return spec;
}

SwitchSpec pauses() {
  SwitchSpec spec;
  spec.flow_control = FlowControl::pfc;
  spec.pause_above = 20_KiB;
  spec.resume_below = 10_KiB;
  return spec;
}

/// One message of so many packets from a host over a switch to another host.
Time through_a_switch(const SwitchSpec& spec, std::int64_t packets) {
  PacketFabric fabric;
  const DeviceIndex middle = fabric.switch_of(spec);
  const LinkIndex up = fabric.cable(fabric.host(), middle, kRate, kLatency);
  fabric.flow({up, fabric.cable(middle, fabric.host(), kRate, kLatency)});
  TransportSpec transport;
  transport.acknowledge_every = 1024;
  PacketRig rig(fabric.plan, transport);
  rig.move_at(Time::zero(), 0, 4_KiB * packets);
  rig.simulator.run();
  return rig.last_delivery();
}

/// Switches in a circle, a host at each, and from each host a flow clockwise to the one `hops` switches on.
PacketFabric circle(std::uint32_t switches, std::uint32_t hops, const SwitchSpec& spec) {
  PacketFabric fabric;
  std::vector<DeviceIndex> at;
  std::vector<LinkIndex> up;
  std::vector<LinkIndex> on;
  for (std::uint32_t s = 0; s < switches; ++s) { at.push_back(fabric.switch_of(spec)); }
  for (std::uint32_t s = 0; s < switches; ++s) { up.push_back(fabric.cable(fabric.host(), at[s], kRate, kLatency)); }
  for (std::uint32_t s = 0; s < switches; ++s) {
    on.push_back(fabric.cable(at[s], at[(s + 1) % switches], kRate, kLatency));
  }
  for (std::uint32_t s = 0; s < switches; ++s) {
    std::vector<LinkIndex> path{up[s]};
    for (std::uint32_t hop = 0; hop < hops; ++hop) { path.push_back(on[(s + hop) % switches]); }
    path.push_back(fabric.back(up[(s + hops) % switches]));
    fabric.flow(path);
  }
  return fabric;
}

/// What a run of all its flows ends with; "": nothing wrong.
std::string fault(const PacketFabric& fabric, Bytes size) {
  TransportSpec transport;
  transport.timeout = 1_ms;
  PacketRig rig(fabric.plan, transport);
  for (std::uint32_t flow = 0; flow < fabric.plan.flows.size(); ++flow) { rig.move_at(Time::zero(), flow, size); }
  try {
    rig.simulator.run();
  } catch (const SimulationError& error) { return std::string(error.code()) + ": " + error.what(); }
  for (std::uint32_t flow = 0; flow < fabric.plan.flows.size(); ++flow) { CHECK(rig.of(flow).delivered.size() == 1); }
  return "";
}

}  // namespace

TEST_CASE("a buffer smaller than the round trip of its credits limits the rate to buffer per round trip") {
  for (const std::int64_t buffer : {1, 2, 3}) {
    CAPTURE(buffer);
    // To the switch, out of it, and the flow control packet of 8 bytes back.
    const Time round = kPacket + kLatency + kPacket + 800_ps + kLatency;
    REQUIRE(kPacket * buffer < round);
    const Time last_start = round * (100 / buffer - 1) + kPacket * (buffer - 1);
    const std::int64_t packets = 100 / buffer * buffer;
    CHECK(through_a_switch(credits(kWire * buffer), packets) == last_start + (kPacket + kLatency) * 2);
    CHECK(through_a_switch(credits(kWire * buffer + 63_B), packets) == last_start + (kPacket + kLatency) * 2);
  }
}

TEST_CASE("a buffer of a round trip and a packet costs nothing") {
  // 416 + 500 + 416 + 0.8 + 500 ns at 10 GB/s are 18,328 bytes: five packets.
  CHECK(through_a_switch(credits(kWire * 5), 100) == kPacket * 101 + kLatency * 2);
  CHECK(through_a_switch(credits(kWire * 4), 100) > kPacket * 101 + kLatency * 2);
}

TEST_CASE("with credits nothing is lost, no buffer overflows, and the port where flows meet is never idle") {
  const PacketFabric fabric = incast(4, credits(kWire * 6), kRate, kLatency);
  PacketRig rig(fabric.plan, {});
  for (std::uint32_t flow = 0; flow < 4; ++flow) { rig.move_at(Time::zero(), flow, 4_MiB); }
  rig.simulator.run();
  CHECK(rig.network.switch_counters().dropped == 0);
  CHECK(rig.network.host_counters().repeated == 0);
  CHECK(rig.network.switch_counters().longest_queue <= 4 * 6 * kWire.count());
  CHECK(rig.network.switch_counters().longest_queue >= 3 * 6 * kWire.count());
  // It also carries the credits of the receiver, a flow control packet of 8 bytes for each reply.
  const Time ideal = (kPacket + kLatency) * 2 + kPacket * (4 * 1024 - 1);
  CHECK(rig.last_delivery() >= ideal);
  CHECK(rig.last_delivery() <= ideal + 800_ps * (4 * 1024));
}

TEST_CASE("head-of-line blocking: a flow to an idle host gets what the congested flows before it leave") {
  for (const bool with_credits : {true, false}) {
    CAPTURE(with_credits);
    SwitchSpec spec = with_credits ? credits(kWire * 6) : SwitchSpec{};
    PacketFabric fabric;
    const DeviceIndex near = fabric.switch_of(spec);
    const DeviceIndex far = fabric.switch_of(spec);
    const LinkIndex trunk = fabric.cable(near, far, kRate * 4, kLatency);
    const LinkIndex hot = fabric.cable(far, fabric.host(), kRate, kLatency);
    const LinkIndex cold = fabric.cable(far, fabric.host(), kRate, kLatency);
    for (int sender = 0; sender < 2; ++sender) {
      fabric.flow({fabric.cable(fabric.host(), near, kRate, kLatency), trunk, hot});
    }
    const ConnectionId victim = fabric.flow({fabric.cable(fabric.host(), near, kRate, kLatency), trunk, cold});
    PacketRig rig(fabric.plan, {});
    for (std::uint32_t flow = 0; flow < 3; ++flow) { rig.move_at(Time::zero(), flow, 4_MiB); }
    rig.simulator.run();
    const double alone = seconds(kPacket * 1024);
    if (with_credits) {
      // The trunk carries one packet of each in turn, and those of the two leave at half a rate each.
      CHECK(seconds(rig.of(victim).delivered.front()) / alone == doctest::Approx(2).epsilon(0.03));
    } else {
      CHECK(seconds(rig.of(victim).delivered.front()) / alone == doctest::Approx(1).epsilon(0.01));
    }
  }
}

TEST_CASE("virtual lanes have buffers of their own: replies pass data that stands, unless they share its lane") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    PacketFabric fabric;
    const DeviceIndex near = fabric.switch_of(credits(kWire * 6));
    const DeviceIndex far = fabric.switch_of(credits(kWire * 6));
    const LinkIndex trunk = fabric.cable(near, far, kRate, kLatency);
    const LinkIndex hot = fabric.cable(far, fabric.host(), kRate / 16, kLatency);
    const LinkIndex out = fabric.cable(fabric.host(), near, kRate, kLatency);
    const LinkIndex in = fabric.cable(fabric.host(), far, kRate, kLatency);
    const ConnectionId slow = fabric.flow({fabric.cable(fabric.host(), near, kRate, kLatency), trunk, hot});
    const ConnectionId back =
        fabric.flow({in, fabric.back(trunk), fabric.back(out)});  // its replies cross the trunk beside `slow`
    TransportSpec transport;
    transport.window = 64_KiB;
    if (shared) { transport.reply_service = transport.data_service; }
    PacketRig rig(fabric.plan, transport);
    rig.move_at(Time::zero(), slow, 4_MiB);
    rig.move_at(100_us, back, 1_MiB);
    rig.simulator.run();
    const double alone = seconds(kPacket * 256);
    const double took = seconds(rig.of(back).delivered.front() - 100_us);
    CHECK(took / alone < (shared ? 100 : 1.04));
    CHECK(took / alone > (shared ? 2 : 1));
  }
}

TEST_CASE("full buffers in a circle end a run with an error that names the links; without the load they do not") {
  for (const SwitchSpec& spec : {credits(kWire * 6), pauses()}) {
    const std::string found = fault(circle(4, 2, spec), 4_MiB);
    CAPTURE(found);
    CHECK(found.starts_with("deadlock: after 1"));
    // Links 0 to 7 are those of the hosts, 8, 10, 12 and 14 go clockwise.
    CHECK(found.find("link 8 waits for link 10 waits for link 12 waits for link 14 waits for the first") !=
          std::string::npos);
    CHECK(fault(circle(4, 1, spec), 4_MiB).empty());  // no flow waits for another link of the circle
    CHECK(fault(circle(4, 2, spec), 4_KiB).empty());  // a packet each fills no buffer
    CHECK(fault(circle(5, 3, spec), 4_MiB).starts_with("deadlock"));
  }
  CHECK(fault(circle(4, 2, {}), 4_MiB).empty());
}
