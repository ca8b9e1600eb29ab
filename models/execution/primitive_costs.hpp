#pragma once

#include "algorithms/schedule/schedule.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/network/max_min_shares.hpp"
#include "models/software/costs.hpp"

namespace athanor {

/// A primitive as a lane carries it out. Where ports of the lane may stand for several each, it uses all or none.
struct PrimitiveUse {
  Bytes bytes;  ///< of one message, payload
  Ports receives;
  Ports sends;
  std::uint32_t inputs = 0;
  bool waits = false;  ///< for another lane

  bool operator==(const PrimitiveUse&) const = default;
};

PrimitiveUse use_of(const Primitive& primitive, const MappedSchedule::Lane& lane, Bytes element_size);

/// What the agent itself works on a primitive.
Time local_work(const PrimitiveUse& use, const AgentCost& cost);

/// Bytes on the wire of a message.
Bytes wire_bytes(Bytes payload, const ConnectionCost& cost);

/// What MaxMinShares gives a connection that nobody else hinders. 0: it crosses no links, and its cap alone counts.
FineRate rate_alone(const FabricConnections& network, const FlowGraph::Connection& pair);
/// How long FlowNetwork takes to inject a message at that rate, or at that cap.
Time injection_alone(Bytes size, FineRate rate, Bandwidth cap);
/// What one link of each class has carried when connections have.
CarriedBytes carried_by_links(const FlowGraph& graph, const IdVector<ConnectionId, Bytes>& carried);

}  // namespace athanor
