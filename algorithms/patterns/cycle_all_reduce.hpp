#pragma once

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// All-reduce around closed rings, one lane per ring: a chunk starts at the rank after its owner, is reduced on its way
/// around to the owner, which finishes it, and goes around once more to be stored: 2P - 1 calls per loop, in each of
/// which every rank handles one chunk.
class CycleAllReduce : public VectorSchedule {
 public:
  CycleAllReduce(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, collective.ranks, layout) {}

  Lane lane(AgentId agent, LaneId lane) const final;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final;
  /// All ranks first send the slices of one chunk; one more slot lets a slice move on.
  std::uint32_t least_slots() const final { return cut().slices() + 1; }

  /// Of a layout with one loop and one slice.
  Cost cost() const;

 protected:
  /// Where a ring visits a rank, and the inverse.
  virtual std::uint32_t position(std::uint32_t ring, std::uint32_t rank) const = 0;
  virtual std::uint32_t rank_at(std::uint32_t ring, std::uint32_t position) const = 0;

 private:
  /// The position `back` places before this one; requires back <= 2 * ranks.
  std::uint32_t before(std::uint32_t position, std::uint32_t back) const {
    return static_cast<std::uint32_t>((position + 2ULL * ranks() - back) % ranks());
  }
  Endpoint beside(std::uint32_t rank, LaneId lane, PortId port, std::uint32_t back) const {
    return {AgentId{rank_at(lane.value, before(position(lane.value, rank), back))}, lane, port};
  }
};

}  // namespace athanor
