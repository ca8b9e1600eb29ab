#pragma once

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// All-reduce on a grid of chains, whose ends are not joined: reduce-scatter along the chains of one dimension after
/// the other, each on the part that the one before has left, and all-gather back. One copy begins in each dimension.
///
/// A chain of X ranks has one group of pieces per rank. Sums flow both ways at once, to the farthest rank first; a rank
/// joins what comes from both sides with its own. Then its result flows both ways. So a channel has two lanes: forwards
/// and backwards, each of which waits at the end of a dimension for the other. Where backwards comes in last, it joins.
class MeshAllReduce : public VectorSchedule {
 public:
  MeshAllReduce(const Collective& collective, const Layout& layout, const Dimensions& dimensions);

  static Elements granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions);

  std::uint32_t lanes(AgentId) const final { return 2 * cut().channels(); }
  Lane lane(AgentId agent, LaneId lane) const final;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final;
  Elements message_limit() const final { return cut().message_limit() * largest_group_; }

  /// Of a layout with one loop.
  Cost cost() const;

 private:
  /// A lane's part in one dimension. Positions count in its direction: it receives from position - 1.
  struct Phase {
    std::uint32_t channel = 0;
    bool backwards = false;
    std::uint32_t order = 0;  ///< dimensions that went before, in this copy
    std::uint32_t first = 0;  ///< piece of group 0
    std::uint32_t group = 1;  ///< pieces per group
    std::uint32_t side = 1;
    std::uint32_t position = 0;

    bool begins() const { return position == 0; }
    bool ends() const { return position + 1 == side; }
    /// Reduce-scatter, then all-gather.
    std::uint32_t reduce_steps() const { return side - 1 - position + (begins() ? 0 : 1); }
    std::uint32_t gather_steps() const { return position + (ends() ? 0 : 1); }
  };

  std::uint32_t dimension(std::uint32_t channel, std::uint32_t order) const;
  std::uint32_t alike(std::uint32_t channel) const;
  Phase phase_of(std::uint32_t rank, LaneId lane, std::uint32_t order) const;
  /// Steps of a lane before phase `number` of 2D: reduce-scatters, then all-gathers.
  std::uint32_t steps_before(std::uint32_t rank, LaneId lane, std::uint32_t number) const;
  std::uint32_t order_of(std::uint32_t number) const;
  Piece groups(const Phase& phase, std::uint64_t loop, std::uint32_t from, std::uint32_t to) const;
  Primitive reduce(std::uint32_t rank, LaneId lane, const Phase& phase, std::uint64_t loop, std::uint32_t step) const;
  Primitive gather(std::uint32_t rank, LaneId lane, const Phase& phase, std::uint64_t loop, std::uint32_t step) const;
  /// The port of a dimension, of those that the lane has towards `forwards` or the other way.
  std::uint32_t port(std::uint32_t rank, LaneId lane, std::uint32_t order, bool forwards) const;
  Endpoint beside(AgentId agent, LaneId lane, PortId port, bool forwards) const;

  Grid grid_;
  std::uint32_t largest_group_ = 1;
};

}  // namespace athanor
