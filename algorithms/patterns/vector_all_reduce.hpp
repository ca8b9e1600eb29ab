#pragma once

#include "algorithms/layout.hpp"
#include "algorithms/schedule.hpp"

namespace athanor {

/// What the all-reduce algorithms without engines and scratch share: each loop of a channel sums up its part of the
/// vector, at the same addresses in every buffer.
class VectorAllReduce : public Schedule {
 public:
  /// `pieces` and the layout as for VectorCut.
  VectorAllReduce(const Collective& collective, std::uint32_t pieces, const Layout& layout)
      : collective_(collective), cut_(collective.count, pieces, layout) {}

  Roster roster() const final { return {collective_.ranks, collective_.ranks}; }
  Memory memory(AgentId) const final {
    return {collective_.count, collective_.count, Elements::zero(),
            collective_.in_place ? std::optional<std::int64_t>{0} : std::nullopt};
  }
  Elements shift(Buffer) const final { return cut_.shift(); }

 protected:
  std::uint32_t ranks() const { return collective_.ranks; }
  const VectorCut& cut() const { return cut_; }

  /// An empty primitive over a range, to which the caller adds what is done.
  static Primitive over(const Piece& range) {
    Primitive primitive;
    primitive.count = range.count;
    return primitive;
  }

 private:
  Collective collective_;
  VectorCut cut_;
};

}  // namespace athanor
