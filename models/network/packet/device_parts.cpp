#include "models/network/packet/device_parts.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace athanor {

namespace {

constexpr std::uint32_t kFar = UINT32_MAX;

/// How many links a device is away from the nearest host.
IdVector<DeviceIndex, std::uint32_t> tiers(const PacketTopology& plan) {
  IdVector<DeviceIndex, std::uint32_t> tier(plan.devices.size(), kFar);
  for (const DeviceIndex device : plan.devices.ids()) {
    if (plan.devices[device].host) { tier[device] = 0; }
  }
  for (std::uint32_t from = 0, changed = 1; changed != 0; ++from) {
    changed = 0;
    for (const PacketTopology::Link& link : plan.links) {
      if (tier[link.source] != from || tier[link.target] != kFar) { continue; }
      tier[link.target] = from + 1;
      changed = 1;
    }
  }
  return tier;
}

/// Where devices stand: hosts by their numbers, and others in the middle of those below that they are joined to.
IdVector<DeviceIndex, double> places(const PacketTopology& plan, const IdVector<DeviceIndex, std::uint32_t>& tier) {
  IdVector<DeviceIndex, double> place(plan.devices.size());
  IdVector<DeviceIndex, std::uint32_t> below(plan.devices.size());
  std::uint32_t highest = 0;
  for (const DeviceIndex device : plan.devices.ids()) {
    if (tier[device] == 0) { place[device] = device.value; }
    if (tier[device] != kFar) { highest = std::max(highest, tier[device]); }
  }
  for (std::uint32_t at = 1; at <= highest; ++at) {
    for (const PacketTopology::Link& link : plan.links) {
      if (tier[link.target] != at || tier[link.source] + 1 != at) { continue; }
      place[link.target] += place[link.source];
      ++below[link.target];
    }
    for (const DeviceIndex device : plan.devices.ids()) {
      if (tier[device] == at) { place[device] /= below[device]; }
    }
  }
  return place;
}

/// Packets that a device sees, as far as the numbers of flows tell.
IdVector<DeviceIndex, std::uint64_t> loads(const PacketTopology& plan) {
  IdVector<DeviceIndex, std::uint64_t> load(plan.devices.size(), 1);
  for (const PacketTopology::Flow& flow : plan.flows) {
    for (std::uint32_t hop = 0; hop < flow.hops * flow.paths; ++hop) {
      const PacketTopology::Link& link = plan.links[plan.hops[flow.first_hop + hop]];
      load[link.target] += 256 / flow.paths + 1;
      load[link.source] += 256 / flow.paths + 1;
    }
  }
  return load;
}

}  // namespace

IdVector<DeviceIndex, std::uint32_t> device_parts(const PacketTopology& plan, std::uint32_t parts) {
  IdVector<DeviceIndex, std::uint32_t> part_of(plan.devices.size());
  const IdVector<DeviceIndex, std::uint32_t> tier = tiers(plan);
  const IdVector<DeviceIndex, double> place = places(plan, tier);
  const IdVector<DeviceIndex, std::uint64_t> load = loads(plan);
  std::vector<DeviceIndex> devices;
  for (const DeviceIndex device : plan.devices.ids()) { devices.push_back(device); }
  std::sort(devices.begin(), devices.end(), [&](DeviceIndex a, DeviceIndex b) {
    return std::tuple(tier[a], place[a], a) < std::tuple(tier[b], place[b], b);
  });
  for (auto begin = devices.begin(); begin != devices.end();) {
    const auto end = std::find_if(begin, devices.end(), [&](DeviceIndex other) { return tier[other] != tier[*begin]; });
    std::uint64_t all = 0;
    std::for_each(begin, end, [&](DeviceIndex device) { all += load[device]; });
    std::uint64_t before = 0;
    for (; begin != end; ++begin) {
      part_of[*begin] = static_cast<std::uint32_t>((before + load[*begin] / 2) * parts / all);
      before += load[*begin];
    }
  }
  return part_of;
}

}  // namespace athanor
