#include "models/network/packet/switches.hpp"
#include "sim/random.hpp"

namespace athanor {

/// Moves a data packet to another path of its flow, of those that go on from here: they share the link by which it
/// came, and stand together.
void Switches::balance(const SwitchSpec& spec, DeviceIndex number, Time now, Packet& packet) {
  const PacketTopology& plan = links_.plan();
  const PacketTopology::Flow& flow = plan.flows[packet.flow];
  if (packet.kind != PacketKind::data || flow.paths == 1) { return; }
  const std::uint32_t hop = (packet.hop - flow.first_hop) % flow.hops;
  const auto link = [&](std::uint32_t path, std::uint32_t at) {
    return plan.hops[flow.first_hop + path * flow.hops + at];
  };
  std::uint32_t first = (packet.hop - flow.first_hop) / flow.hops;
  std::uint32_t last = first;
  const LinkIndex came_by = link(first, hop - 1);
  while (first > 0 && link(first - 1, hop - 1) == came_by) { --first; }
  while (last + 1 < flow.paths && link(last + 1, hop - 1) == came_by) { ++last; }
  if (link(first, hop) == link(last, hop)) { return; }
  std::uint32_t chosen = first;
  if (spec.load_balancing == LoadBalancing::flowlets) {
    if (first > 0 || last + 1 < flow.paths) { return; }  // the switch before has chosen the whole path
    chosen = flowlet_path(spec, number, now, packet.flow);
  } else {
    chosen = least_loaded(number, packet, hop, first, last);
  }
  packet.hop = flow.first_hop + chosen * flow.hops + hop;
}

std::uint32_t Switches::flowlet_path(const SwitchSpec& spec, DeviceIndex number, Time now, ConnectionId flow) {
  Flowlet& flowlet = flowlets_[flow];
  if (!flowlet.begun || now - flowlet.last > spec.flowlet_gap) {
    const std::uint64_t drawn = join_hash(seed_ ^ number.value, devices_[number].draws++);
    flowlet.path = static_cast<std::uint32_t>(drawn % links_.plan().flows[flow].paths);
    flowlet.begun = true;
  }
  flowlet.last = now;
  return flowlet.path;
}

/// Of equal ones any: who would always take the first would fill it with the packets of all ports at once.
std::uint32_t Switches::least_loaded(DeviceIndex number, const Packet& packet, std::uint32_t hop, std::uint32_t first,
                                     std::uint32_t last) {
  const PacketTopology& plan = links_.plan();
  const PacketTopology::Flow& flow = plan.flows[packet.flow];
  const std::uint32_t count = last - first + 1;
  const auto start = static_cast<std::uint32_t>(join_hash(seed_ ^ number.value, devices_[number].draws++) % count);
  std::uint32_t best = first;
  std::int64_t least = INT64_MAX;
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t path = first + (start + k) % count;
    const std::int64_t load = this->load(plan.hops[flow.first_hop + path * flow.hops + hop], packet.service);
    if (load >= least) { continue; }
    least = load;
    best = path;
  }
  return best;
}

/// Bytes that wait at a port or are being sent; one that was stopped comes behind all others.
std::int64_t Switches::load(LinkIndex link, std::uint8_t service) const {
  constexpr std::int64_t kStopped = INT64_MAX / 2;
  const Port& port = links_.port(link);
  return port.bytes() + port.leaving_bytes() + (port.is_stopped(service) ? kStopped : 0);
}

}  // namespace athanor
