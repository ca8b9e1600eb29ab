#pragma once

#include "algorithms/patterns/folded_cube.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// What the all-reduce algorithms on a folded cube share. One lane per channel and rank. A rank beyond the corners
/// sends and then receives; the corner that serves it adds before its exchanges and answers after them, which puts
/// one step before and one after those of the algorithm. Port e of a corner leads to its partner of exchange e; port
/// `dimensions` to the rank beyond, whose only port is 0.
class CubeAllReduce : public VectorSchedule {
 public:
  /// `pieces` as for VectorCut; `exchanges`: steps of a corner that serves nobody.
  CubeAllReduce(const Collective& collective, const Layout& layout, std::uint32_t pieces, std::uint32_t exchanges)
      : VectorSchedule(collective, pieces, slices_as_chunks(layout)),
        cube_(collective.ranks),
        pieces_(pieces),
        exchanges_(exchanges) {}

  Lane lane(AgentId agent, LaneId lane) const final;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return opposite(agent.value, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return opposite(agent.value, lane, in); }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final;

 protected:
  /// The corner that a corner exchanges with, and that with it; one per dimension.
  virtual std::uint32_t partner(std::uint32_t channel, std::uint32_t corner, std::uint32_t exchange) const = 0;
  /// Step `step` of a corner. Its own sum stands in `sum` before it has stored any other.
  virtual Primitive exchange(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t step,
                             Buffer sum) const = 0;

  const FoldedCube& cube() const { return cube_; }

 private:
  std::uint32_t ports(std::uint32_t rank) const;
  /// Connections are the same both ways: the far end of out-port p sends to in-port p.
  Endpoint opposite(std::uint32_t rank, LaneId lane, PortId port) const;
  static Primitive beyond(const Piece& range, std::uint32_t step);
  Primitive serve(const Piece& range, bool answers) const;

  FoldedCube cube_;
  std::uint32_t pieces_;
  std::uint32_t exchanges_;
};

}  // namespace athanor
