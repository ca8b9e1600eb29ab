#include "models/aggregators/packet_carrier.hpp"

#include <algorithm>

#include "sim/random.hpp"

namespace athanor {

PacketCarrier::PacketCarrier(const Cluster& cluster, const SlotSettings& settings, std::uint64_t seed)
    : settings_(settings),
      seed_(join_hash(seed, hash_text("lost packets"))),
      cluster_(cluster),
      paths_(plan_, cluster) {}

std::uint32_t PacketCarrier::add(const Way& way) {
  const auto number = static_cast<std::uint32_t>(lanes_.size());
  paths_.add({way.from, way.to, join_hash(seed_, number)}, [&](std::span<const LinkId>) {
    ConnectionCost cost;
    cost.latency = way.latency;
    cost.cap = way.cap;
    return cost;
  });
  Lane& lane = lanes_.emplace_back();
  lane.way = way;
  if (settings_.loss.numerator > 0) { lane.copies.resize(std::min(way.span, way.packets)); }
  if (lost_.size() <= way.job) { lost_.resize(std::size_t{way.job} + 1); }
  return number;
}

void PacketCarrier::open(Simulator& simulator, const SimulationOptions& options, PacketHandler& handler) {
  handler_ = &handler;
  SimulationOptions own = options;
  own.queue_pairs = 1;  // a packet takes one path
  own.packet.transport.payload = settings_.payload + settings_.header;
  own.packet.transport.header = Bytes::zero();
  network_ = std::make_unique<PlanNetwork>(simulator, plan_, *cluster_.fabric, own, seed_, *this);
}

Bytes PacketCarrier::on_wire(const Lane& lane, std::uint32_t sequence) const {
  return (sequence + 1 == lane.way.packets ? lane.way.last : settings_.payload) + settings_.header;
}

void PacketCarrier::send(std::uint32_t connection, SlotPacket packet) {
  Lane& lane = lanes_[connection];
  packet.lost = loses(connection, packet.sequence);
  const Bytes full = settings_.payload + settings_.header;
  if (lane.way.marks && lane.waiting > settings_.mark_above / full) { packet.marked = true; }
  lane.under_way.push(packet);
  ++lane.waiting;
  ++moved_;
  network_->network().move(connection, on_wire(lane, packet.sequence));
}

/// Hashed, not drawn in turn, so that one loss changes no other one.
bool PacketCarrier::loses(std::uint32_t connection, std::uint32_t sequence) {
  std::vector<Copies>& copies = lanes_[connection].copies;
  if (copies.empty()) { return false; }
  Copies& own = copies[sequence % copies.size()];
  if (own.sequence != sequence) { own = {sequence, 0}; }
  const std::uint64_t hash = join_hash(join_hash(join_hash(seed_, connection), sequence), own.count++);
  const auto whole = static_cast<std::uint64_t>(settings_.loss.denominator);
  return scale_hash(hash, whole) < static_cast<std::uint64_t>(settings_.loss.numerator);
}

void PacketCarrier::delivered(std::uint32_t connection) {
  Lane& lane = lanes_[connection];
  const SlotPacket packet = lane.under_way.front();
  lane.under_way.pop();
  if (packet.lost) {
    ++lost_[lane.way.job];
    return;
  }
  handler_->arrive(connection, packet);
}

Time PacketCarrier::alone(std::uint32_t connection) const {
  const NetworkPlan::Connection& path = plan_.network.connections[connection];
  Bandwidth slowest = path.cap;
  for (std::uint32_t u = path.first_use; u < path.first_use + path.uses; ++u) {
    slowest = std::min(slowest, plan_.network.links[plan_.network.uses[u].link].rate);
  }
  const bool limited = slowest != Bandwidth::max();
  return path.latency + (limited ? transfer_time(settings_.payload + settings_.header, slowest) : Time::zero());
}

}  // namespace athanor
