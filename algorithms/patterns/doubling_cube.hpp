#pragma once

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/cube_all_reduce.hpp"

namespace athanor {

/// Partners swap whole sums. What comes from one exchange goes out to the next at once, so a corner has one step more
/// than there are exchanges.
class DoublingCube : public CubeAllReduce {
 public:
  DoublingCube(const Collective& collective, const Layout& layout)
      : CubeAllReduce(collective, layout, 1, FoldedCube(collective.ranks).dimensions() + 1) {}

  static Cost cost(const Collective& collective) {
    const FoldedCube cube(collective.ranks);
    const std::uint32_t fold = cube.folds() ? 1 : 0;
    const Elements exchanged = collective.count * (cube.dimensions() + fold);
    return {cube.dimensions() + 2 * fold, exchanged, exchanged};
  }

 protected:
  Primitive exchange(std::uint32_t, LaneId lane, std::uint64_t loop, std::uint32_t step, Buffer sum) const final {
    const Piece range = cut().piece(lane.value, loop, 0);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(step <= 1 ? sum : Buffer::output, range.first);
    if (step > 0) {
      primitive.receives = {step - 1, 1};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    if (step < cube().dimensions()) { primitive.sends = {step, 1}; }
    primitive.finish = step == cube().dimensions();
    return primitive;
  }
};

}  // namespace athanor
