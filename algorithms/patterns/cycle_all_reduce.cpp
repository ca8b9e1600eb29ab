#include "algorithms/patterns/cycle_all_reduce.hpp"

#include <algorithm>

namespace athanor {

Lane CycleAllReduce::lane(AgentId, LaneId lane) const {
  return {(2 * ranks() - 1) * cut().slices(), cut().loops(lane.value), 1, 1, ProgramId{cut().shape(lane.value)}};
}

Endpoint CycleAllReduce::target(AgentId agent, LaneId lane, PortId out) const {
  return beside(agent.value, lane, out, ranks() - 1);
}

Endpoint CycleAllReduce::source(AgentId agent, LaneId lane, PortId in) const {
  return beside(agent.value, lane, in, 1);
}

Primitive CycleAllReduce::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const {
  const std::uint32_t call = step / cut().slices();
  const std::uint32_t chunk = before(position(lane.value, agent.value), call + 1);
  const Piece range = cut().slice(lane.value, loop, chunk, step % cut().slices());
  Primitive primitive = over(range);
  if (call > 0) { primitive.receives = {0, 1}; }
  if (call < 2 * ranks() - 2) { primitive.sends = {0, 1}; }
  if (call < ranks()) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
  if (call + 1 >= ranks()) { primitive.store = contiguous(Buffer::output, range.first); }
  primitive.finish = call + 1 == ranks();
  return primitive;
}

/// A rank sends all chunks twice but for its own and the next, which it sends once, and adds to all but the one before.
Cost CycleAllReduce::cost() const {
  Cost result{2 * (ranks() - 1), Elements::zero(), Elements::zero()};
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    Elements sent;
    Elements reduced;
    for (std::uint32_t ring = 0; ring < cut().channels(); ++ring) {
      const std::uint32_t own = position(ring, rank);
      const Elements all = cut().pieces(ring, 0, 0, ranks()).count;
      sent += all * 2 - cut().piece(ring, 0, own).count - cut().piece(ring, 0, (own + 1) % ranks()).count;
      reduced += all - cut().piece(ring, 0, before(own, 1)).count;
    }
    result.sent = std::max(result.sent, sent);
    result.reduced = std::max(result.reduced, reduced);
  }
  return result;
}

}  // namespace athanor
