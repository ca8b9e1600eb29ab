#pragma once

#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/patterns/torus_rings.hpp"

namespace athanor {

/// All-reduce on a grid of rings, dimension by dimension: reduce-scatter around the rings of the first dimensions, each
/// on the part that the one before has left, all-reduce around those of the last, all-gather back to the first.
///
/// Each copy has 2D - 1 lanes, one per phase, so that a chunk is in one phase while the next is in the one before. A
/// phase waits for the phase before to have ended the same loop, stands on its sums in the output, and hands on its
/// own.
class TorusAllReduce : public VectorSchedule {
 public:
  TorusAllReduce(const Collective& collective, const Layout& layout, const Dimensions& dimensions, TorusCopies copies);

  /// What cutting an equal part for each copy takes.
  static Elements granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions,
                          TorusCopies copies);

  std::uint32_t lanes(AgentId) const final { return cut().channels() * phases(); }
  Lane lane(AgentId agent, LaneId lane) const final;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final;
  Elements message_limit() const final { return cut().message_limit() * largest_group_; }
  std::uint32_t least_slots() const final { return 2; }

  /// Of a layout with one loop.
  Cost cost() const;

 private:
  /// One lane's part: a ring in one dimension, over successive groups of pieces, one group per position.
  struct Phase {
    std::uint32_t channel = 0;
    std::uint32_t order = 0;  ///< dimensions that went before, in this copy
    bool reduces = true;      ///< reduce-scatter or all-reduce
    bool gathers = false;     ///< all-reduce or all-gather
    std::uint32_t first = 0;  ///< piece of group 0
    std::uint32_t group = 1;  ///< pieces per group
    std::uint32_t side = 1;
    std::uint32_t position = 0;
  };

  std::uint32_t phases() const { return 2 * rings_.dimensions() - 1; }
  std::uint32_t order_of(std::uint32_t phase) const { return std::min(phase, phases() - 1 - phase); }
  std::uint32_t steps(std::uint32_t channel, std::uint32_t phase) const;
  Phase phase_of(std::uint32_t rank, LaneId lane) const;
  Piece group(const Phase& phase, std::uint64_t loop, std::uint32_t position) const;
  Endpoint beside(AgentId agent, LaneId lane, PortId port, bool next) const;
  /// The first rotation with the same sides in the same order.
  std::uint32_t alike(std::uint32_t channel) const;

  TorusRings rings_;
  std::uint32_t largest_group_ = 1;
};

}  // namespace athanor
