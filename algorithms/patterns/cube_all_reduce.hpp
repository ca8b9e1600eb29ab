#pragma once

#include "algorithms/layout.hpp"
#include "algorithms/patterns/folded_cube.hpp"
#include "algorithms/schedule.hpp"

namespace athanor {

/// What the all-reduce algorithms on a folded cube share. One lane per channel and rank. A rank beyond the corners
/// sends and then receives; the corner that serves it adds before its exchanges and answers after them, which puts
/// one step before and one after those of the algorithm.
class CubeAllReduce : public Schedule {
 public:
  /// `pieces` as for VectorCut; `exchanges`: steps of a corner that serves nobody.
  CubeAllReduce(const Collective& collective, const Layout& layout, std::uint32_t pieces, std::uint32_t exchanges)
      : collective_(collective),
        cube_(collective.ranks),
        cut_(collective.count, pieces, slices_as_chunks(layout)),
        pieces_(pieces),
        exchanges_(exchanges) {}

  Roster roster() const final { return {collective_.ranks, collective_.ranks}; }
  std::uint32_t lanes(AgentId) const final { return cut_.channels(); }
  Lane lane(AgentId agent, LaneId lane) const final;
  Memory memory(AgentId agent) const final;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return cube_.opposite(agent.value, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return cube_.opposite(agent.value, lane, in); }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final;
  Elements shift(Buffer) const final { return cut_.shift(); }
  std::uint32_t least_slots() const final { return 1; }

 protected:
  /// Step `step` of a corner. Its own sum stands in `sum` before it has stored any other.
  virtual Primitive exchange(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t step,
                             Buffer sum) const = 0;

  const FoldedCube& cube() const { return cube_; }
  const VectorCut& cut() const { return cut_; }

 private:
  Primitive beyond(const Piece& range, std::uint32_t step) const;
  Primitive serve(const Piece& range, bool answers) const;

  Collective collective_;
  FoldedCube cube_;
  VectorCut cut_;
  std::uint32_t pieces_;
  std::uint32_t exchanges_;
};

}  // namespace athanor
