#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/cube_all_reduce.hpp"

namespace athanor {

namespace {

/// A loop's chunk has one piece per corner. Halving exchange d splits the pieces that a corner still sums up: it keeps
/// the lower half if its bit d is clear, and swaps the other half with the corner that differs in bit d; at the end it
/// has one finished piece. Doubling goes the same way back and swaps results. Each exchange is a send and a receive.
class HalvingDoubling final : public CubeAllReduce {
 public:
  HalvingDoubling(const Collective& collective, const Layout& layout)
      : CubeAllReduce(collective, piece_layout(collective, layout), FoldedCube(collective.ranks).corners(),
                      4 * FoldedCube(collective.ranks).dimensions()) {}

  Elements message_limit() const override {
    return cut().message_limit() * (cube().folds() ? cube().corners() : cube().corners() / 2);
  }

 protected:
  Primitive exchange(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t step,
                     Buffer sum) const override {
    const std::uint32_t dimensions = cube().dimensions();
    const std::uint32_t halving = step / 2;
    const bool sends = step % 2 == 0;
    if (halving >= dimensions) {
      const std::uint32_t dimension = 2 * dimensions - 1 - halving;
      return restore(results(corner, lane, loop, dimension, sends), dimension, sends);
    }
    const Piece range = results(corner, lane, loop, halving, !sends);
    return halve(range, halving, sends, halving == 0 ? sum : Buffer::output);
  }

 private:
  /// The layout's chunk is what a loop moves, so that no message exceeds it.
  static Layout piece_layout(const Collective& collective, Layout layout) {
    layout = slices_as_chunks(layout);
    if (layout.chunk < Elements::max()) {
      layout.chunk = std::max(Elements{1}, layout.chunk / FoldedCube(collective.ranks).corners());
    }
    return layout;
  }

  /// Of the pieces that a corner holds before halving exchange d, the half that it keeps, or the other.
  Piece results(std::uint32_t corner, LaneId lane, std::uint64_t loop, std::uint32_t dimension, bool keeps) const {
    std::uint32_t first = 0;
    for (std::uint32_t bit = 0; bit < dimension; ++bit) {
      if ((corner >> bit & 1U) != 0) { first += cube().corners() >> (bit + 1); }
    }
    const std::uint32_t half = cube().corners() >> (dimension + 1);
    const bool upper = (corner >> dimension & 1U) != 0;
    return cut().pieces(lane.value, loop, first + (upper == keeps ? half : 0), half);
  }

  Primitive halve(const Piece& range, std::uint32_t dimension, bool sends, Buffer sum) const {
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = contiguous(sum, range.first);
    if (sends) {
      primitive.sends = {dimension, 1};
    } else {
      primitive.receives = {dimension, 1};
      primitive.store = contiguous(Buffer::output, range.first);
      primitive.finish = dimension + 1 == cube().dimensions();
    }
    return primitive;
  }

  static Primitive restore(const Piece& range, std::uint32_t dimension, bool sends) {
    Primitive primitive;
    primitive.count = range.count;
    if (sends) {
      primitive.operands[0] = contiguous(Buffer::output, range.first);
      primitive.sends = {dimension, 1};
    } else {
      primitive.receives = {dimension, 1};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    return primitive;
  }
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<HalvingDoubling>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(FoldedCube(collective.ranks).corners(), layout);
}

/// Corner 0 keeps the lower halves, which are never the shorter ones, and serves a rank beyond if any does.
Cost cost(const Collective& collective) {
  const FoldedCube cube(collective.ranks);
  const Elements piece = block(collective.count, cube.corners(), 0).count;
  Cost result{2 * cube.dimensions(), Elements::zero(), Elements::zero()};
  for (std::uint32_t dimension = 0; dimension < cube.dimensions(); ++dimension) {
    result.sent += std::min(collective.count, piece * (cube.corners() >> dimension));
    result.reduced += std::min(collective.count, piece * (cube.corners() >> (dimension + 1)));
  }
  if (cube.folds()) {
    result.steps += 2;
    result.sent += collective.count;
    result.reduced += collective.count;
  }
  return result;
}

}  // namespace

Algorithm halving_doubling_all_reduce() {
  return {"halving_doubling",
          CollectiveKind::all_reduce,
          "halves of the sum are swapped at doubling distances, then the results; least traffic in 2 log2 P steps",
          Engine::none,
          "2 log2 P alpha + 2 (P-1)/P n beta + (P-1)/P n gamma; where P is no power of two, for the next lower one and "
          "+ 2 (alpha + n beta) + n gamma",
          "Rabenseifner, Optimization of collective reduction operations, 2004",
          make,
          granule,
          cost};
}

}  // namespace athanor
