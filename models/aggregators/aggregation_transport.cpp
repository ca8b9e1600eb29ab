#include "models/aggregators/aggregation_transport.hpp"

#include <algorithm>

#include "models/network/network.hpp"
#include "sim/check.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

SendWindow::SendWindow(std::uint32_t packets, std::uint32_t most)
    : packets_(packets), most_(most), size_(most_ * kFine), there_(most_), tries_(most_) {
  require(most > 0 && most <= kMost, "a window of {} packets", most);
}

bool SendWindow::take(std::uint32_t sequence, std::uint32_t later) {
  there_[sequence % most_] = 1;
  ++ahead_;
  if (sequence == first_) { advance(); }
  if (later == 0 || ahead_ < later || counted_lost_) { return false; }
  counted_lost_ = true;
  return true;
}

void SendWindow::advance() {
  for (; first_ < next_ && has(first_); --ahead_) { there_[first_++ % most_] = 0; }
  counted_lost_ = false;
}

void SendWindow::adapt(std::uint32_t sequence, bool marked) {
  if (!marked) {
    size_ = std::min(most_ * kFine, size_ + std::max<std::uint64_t>(kFine * kFine / size_, 1));
  } else if (sequence >= halved_until_) {
    size_ = std::max(kFine, size_ / 2);
    halved_until_ = next_;
  }
}

AggregationTransport::AggregationTransport(const Cluster& cluster, const AggregatorSettings& settings,
                                           std::uint64_t seed)
    : settings_(settings),
      seed_(join_hash(seed, hash_text("lost packets"))),
      cluster_(cluster),
      connections_(cluster, 1) {}  // a packet takes one path

ConnectionId AggregationTransport::add(const Route& route) {
  const std::uint64_t flow = join_hash(seed_, lanes_.size());
  const ConnectionId number =
      connections_.add(route.from, route.to, flow, {.latency = route.latency, .cap = route.cap, .grain = {}});
  Lane& lane = lanes_.emplace_back();
  lane.route = route;
  if (settings_.loss.numerator > 0) { lane.copies.resize(std::min(route.span, route.packets)); }
  if (lost_.size() <= route.job) { lost_.resize(std::size_t{route.job} + 1); }
  return number;
}

void AggregationTransport::open(Simulator& simulator, const NetworkOptions& options, PacketHandler& handler) {
  handler_ = &handler;
  NetworkOptions own = options;
  own.packet.transport.payload = settings_.payload + settings_.header;
  own.packet.transport.header = Bytes::zero();
  network_ = std::make_unique<FabricNetwork>(simulator, connections_.opened(), *cluster_.fabric, own, seed_, *this);
}

Bytes AggregationTransport::on_wire(const Lane& lane, std::uint32_t sequence) const {
  return (sequence + 1 == lane.route.packets ? lane.route.last : settings_.payload) + settings_.header;
}

void AggregationTransport::send(ConnectionId connection, AggregationPacket packet) {
  Lane& lane = lanes_[connection];
  packet.lost = loses(connection, packet.sequence);
  const Bytes full = settings_.payload + settings_.header;
  if (lane.route.marks && lane.waiting > settings_.mark_above / full) { packet.marked = true; }
  lane.under_way.push(packet);
  ++lane.waiting;
  ++moved_;
  network_->network().move(connection, on_wire(lane, packet.sequence));
}

/// Hashed, not drawn in turn, so that one loss changes no other one.
bool AggregationTransport::loses(ConnectionId connection, std::uint32_t sequence) {
  std::vector<Copies>& copies = lanes_[connection].copies;
  if (copies.empty()) { return false; }
  Copies& own = copies[sequence % copies.size()];
  if (own.sequence != sequence) { own = {sequence, 0}; }
  const std::uint64_t hash = join_hash(join_hash(join_hash(seed_, connection.value), sequence), own.count++);
  const auto whole = static_cast<std::uint64_t>(settings_.loss.denominator);
  return scale_hash(hash, whole) < static_cast<std::uint64_t>(settings_.loss.numerator);
}

void AggregationTransport::delivered(ConnectionId connection) {
  Lane& lane = lanes_[connection];
  const AggregationPacket packet = lane.under_way.front();
  lane.under_way.pop();
  if (packet.lost) {
    ++lost_[lane.route.job];
    return;
  }
  handler_->arrive(connection, packet);
}

Time AggregationTransport::alone(ConnectionId connection) const {
  const FlowGraph& graph = connections_.opened().graph;
  const FlowGraph::Connection& path = graph.connections[connection];
  return path.latency + injection_time(settings_.payload + settings_.header, rate_alone(graph, path));
}

}  // namespace athanor
