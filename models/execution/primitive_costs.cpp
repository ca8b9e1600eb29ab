#include "models/execution/primitive_costs.hpp"

#include <algorithm>

#include "models/network/network.hpp"
#include "sim/ratio.hpp"

namespace athanor {

PrimitiveUse use_of(const Primitive& primitive, const MappedSchedule::Lane& lane, Bytes element_size) {
  const auto all_or_none = [](const Ports& used, std::uint32_t ports) { return Ports{0, used.count == 0 ? 0 : ports}; };
  PrimitiveUse use;
  use.bytes = Bytes{primitive.count.count() * element_size.count()};
  use.receives = lane.symmetric_inputs ? all_or_none(primitive.receives, lane.in_ports) : primitive.receives;
  use.sends = lane.symmetric_outputs ? all_or_none(primitive.sends, lane.out_ports) : primitive.sends;
  use.inputs = primitive.inputs();
  use.waits = primitive.wait.has_value();
  return use;
}

Time local_work(const PrimitiveUse& use, const AgentCost& cost) {
  if (use.inputs > 1 && cost.reduce_rate != Bandwidth::max()) {
    return transfer_time(use.bytes * (use.inputs - 1), cost.reduce_rate);
  }
  if (use.sends.count > 0) { return Time::zero(); }
  return injection_time(use.bytes, use.receives.count > 0 ? cost.unpack_rate : cost.copy_rate);
}

Bytes wire_bytes(Bytes payload, const ConnectionCost& cost) {
  if (cost.wire_numerator == cost.wire_denominator) { return payload; }
  return scaled_up(payload, {cost.wire_numerator, cost.wire_denominator});
}

FineRate rate_alone(const FabricConnections& network, const FlowGraph::Connection& pair) {
  if (pair.uses == 0) { return 0; }
  FineRate rate = std::min<std::int64_t>(pair.cap.count(), INT64_MAX / kFinePerByte) * kFinePerByte;
  for (const FlowGraph::Use& use : network.path_of(pair)) {
    const FlowGraph::Link& link = network.graph.links[use.link];
    if (!link.slack) { rate = std::min(rate, link.rate.count() * kFinePerByte / use.flows); }
  }
  return rate;
}

Time injection_alone(Bytes size, FineRate rate, Bandwidth cap) {
  constexpr Wide kPartsPerByte = Wide{kFinePerByte} * 1'000'000'000'000;  // as in FlowNetwork
  if (size == Bytes::zero()) { return Time::zero(); }
  if (rate == 0) { return injection_time(size, cap); }
  const Wide time = (size.count() * kPartsPerByte + rate - 1) / rate;
  if (time > INT64_MAX) { Picoseconds::overflow(); }
  return Time{static_cast<std::int64_t>(time)};
}

CarriedBytes carried_by_links(const FlowGraph& graph, const IdVector<ConnectionId, Bytes>& carried) {
  CarriedBytes sums(graph.links.size());
  for (const ConnectionId number : graph.connections.ids()) {
    const FlowGraph::Connection& pair = graph.connections[number];
    for (std::uint32_t u = pair.first_use; u < pair.first_use + pair.uses + pair.beside; ++u) {
      sums[graph.uses[u].link] += carried[number] * graph.uses[u].flows;
    }
  }
  return sums;
}

}  // namespace athanor
