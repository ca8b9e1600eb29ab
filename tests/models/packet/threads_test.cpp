#include <doctest/doctest.h>

#include "models/network/packet/device_parts.hpp"
#include "tests/models/packet/random_packets.hpp"
#include "tests/sanitized.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// Leaves of four hosts under spines; each host sends to the one so many further on.
PacketFabric leaves_and_spines(std::uint32_t leaves, std::uint32_t spines, std::uint32_t further) {
  PacketFabric fabric;
  std::vector<LinkIndex> in;
  std::vector<LinkIndex> up;
  std::vector<DeviceIndex> above;
  for (std::uint32_t s = 0; s < spines; ++s) { above.push_back(fabric.switch_of({})); }
  for (std::uint32_t l = 0; l < leaves; ++l) {
    const DeviceIndex leaf = fabric.switch_of({});
    for (std::uint32_t h = 0; h < 4; ++h) { in.push_back(fabric.cable(fabric.host(), leaf, 100_Gbps, 500_ns)); }
    for (const DeviceIndex spine : above) { up.push_back(fabric.cable(leaf, spine, 100_Gbps, 500_ns)); }
  }
  for (std::uint32_t h = 0; h < in.size(); ++h) {
    const auto to = static_cast<std::uint32_t>((h + further) % in.size());
    const std::uint32_t spine = h % spines;
    fabric.flow({in[h], up[h / 4 * spines + spine], fabric.back(up[to / 4 * spines + spine]), fabric.back(in[to])});
  }
  return fabric;
}

}  // namespace

TEST_CASE("parts have equal shares of hosts and of each tier of switches, and hosts are with their leaf") {
  const PacketFabric fabric = leaves_and_spines(16, 8, 4);
  for (const std::uint32_t parts : {1U, 2U, 4U, 8U}) {
    const IdVector<DeviceIndex, std::uint32_t> part_of = device_parts(fabric.plan, parts);
    std::vector<std::uint32_t> hosts(parts);
    std::vector<std::uint32_t> switches(parts);
    for (const DeviceIndex device : fabric.plan.devices.ids()) {
      REQUIRE(part_of[device] < parts);
      ++(fabric.plan.devices[device].host ? hosts : switches)[part_of[device]];
    }
    for (std::uint32_t part = 0; part < parts; ++part) {
      CHECK(hosts[part] == 64 / parts);
      CHECK(switches[part] == 24 / parts);
    }
    for (const PacketTopology::Link& link : fabric.plan.links) {
      if (fabric.plan.devices[link.source].host) { CHECK(part_of[link.source] == part_of[link.target]); }
    }
  }
}

TEST_CASE("controls that reach from host to host are simulated on one thread") {
  const PacketFabric fabric = leaves_and_spines(2, 1, 4);
  for (const ControlEntry& control : congestion_controls()) {
    CAPTURE(control.words.name);
    TransportSpec transport;
    transport.control = congestion_control(control.words.name);
    const PacketRig rig(fabric.plan, transport, {.threads = 2});
    const bool reaches = control.words.name == "hpcc" || control.words.name == "pull";
    CHECK(rig.network.threads() == (reaches ? 1 : 2));
  }
}

TEST_CASE("where there is much to do threads work together, with the same results") {
  const PacketFabric fabric = leaves_and_spines(64, 8, 100);
  const auto delivered = [&](std::uint32_t threads) {
    PacketRig rig(fabric.plan, {}, {.threads = threads});
    for (std::uint32_t flow = 0; flow < 256; ++flow) { rig.move_at(1_ns * flow, flow, Bytes{200'000 + 5'000 * flow}); }
    rig.simulator.run();
    return rig.log.calls;
  };
  const auto alone = delivered(1);
  CHECK(alone.size() == 512);
  for (const std::uint32_t threads : {2U, 3U}) { CHECK(delivered(threads) == alone); }
}

TEST_CASE("random fabrics, every congestion control: results do not depend on the number of threads") {
  constexpr std::uint64_t kSeeds = kSanitized ? 2 : 6;  // which take ten times as long there
  for (const ControlEntry& control : congestion_controls()) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CAPTURE(control.words.name);
      CAPTURE(seed);
      const Outcome alone = outcome(seed, control, {});
      CHECK(alone.counted.front() > 0);
      for (const std::uint32_t threads : {2U, 3U, 8U}) {
        CHECK(outcome(seed, control, {Time::max(), threads, true}) == alone);
      }
      CHECK(outcome(seed, control, {Time::max(), 2, false}) == alone);
    }
  }
}
