#pragma once

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/patterns/vector_all_reduce.hpp"

namespace athanor {

/// How many copies of itself an algorithm on a grid of rings runs side by side, each with its part of the payload.
struct TorusCopies {
  bool rotated = false;    ///< one copy begins in each dimension
  bool both_ways = false;  ///< and each goes both ways around the rings
};

/// All-reduce on a grid of rings, dimension by dimension: reduce-scatter around the rings of the first dimensions, each
/// on the part that the one before has left, all-reduce around those of the last, all-gather back to the first. A copy
/// begins with dimension D - 1 less its rotation and counts down.
///
/// Each copy has 2D - 1 lanes, one per phase, so that a chunk is in one phase while the next is in the one before. A
/// phase waits for the phase before to have ended the same loop, stands on its sums in the output, and hands on its
/// own.
class TorusAllReduce : public VectorAllReduce {
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
    std::uint32_t dimension = 0;
    bool backwards = false;
    bool reduces = true;      ///< reduce-scatter or all-reduce
    bool gathers = false;     ///< all-reduce or all-gather
    std::uint32_t first = 0;  ///< piece of group 0
    std::uint32_t group = 1;  ///< pieces per group
    std::uint32_t side = 1;
    std::uint32_t position = 0;
  };

  std::uint32_t phases() const { return 2 * grid_.dimensions() - 1; }
  std::uint32_t dimension(std::uint32_t channel, std::uint32_t order) const;
  bool backwards(std::uint32_t channel) const { return ways_ == 2 && channel % 2 == 1; }
  std::uint32_t steps(std::uint32_t channel, std::uint32_t phase) const;
  std::uint32_t position(std::uint32_t rank, std::uint32_t channel, std::uint32_t order) const;
  Phase phase_of(std::uint32_t rank, LaneId lane) const;
  Piece group(const Phase& phase, std::uint64_t loop, std::uint32_t position) const;
  Endpoint beside(AgentId agent, LaneId lane, PortId port, bool next) const;
  /// The first rotation with the same sides in the same order.
  std::uint32_t alike(std::uint32_t channel) const;

  Grid grid_;
  std::uint32_t rotations_;
  std::uint32_t ways_;
  std::uint32_t largest_group_ = 1;
};

}  // namespace athanor
