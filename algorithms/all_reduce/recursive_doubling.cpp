#include "algorithms/catalog.hpp"
#include "algorithms/patterns/cube_all_reduce.hpp"

namespace athanor {

namespace {

/// In exchange d the corners that differ in bit d swap their sums. What comes from one exchange goes out to the next at
/// once, so a corner has one step more than there are exchanges.
class RecursiveDoubling final : public CubeAllReduce {
 public:
  RecursiveDoubling(const Collective& collective, const Layout& layout)
      : CubeAllReduce(collective, layout, 1, FoldedCube(collective.ranks).dimensions() + 1) {}

  Elements message_limit() const override { return cut().message_limit(); }

 protected:
  Primitive exchange(std::uint32_t, LaneId lane, std::uint64_t loop, std::uint32_t step, Buffer sum) const override {
    const Piece range = cut().piece(lane.value, loop, 0);
    Primitive primitive;
    primitive.count = range.count;
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

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<RecursiveDoubling>(collective, layout);
}

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, layout); }

Cost cost(const Collective& collective) {
  const FoldedCube cube(collective.ranks);
  const std::uint32_t fold = cube.folds() ? 1 : 0;
  const Elements exchanged = collective.count * (cube.dimensions() + fold);
  return {cube.dimensions() + 2 * fold, exchanged, exchanged};
}

}  // namespace

Algorithm recursive_doubling_all_reduce() {
  return {"recursive_doubling",
          CollectiveKind::all_reduce,
          "partners at doubling distances swap whole sums; fewest steps, for small payloads",
          Engine::none,
          "log2 P (alpha + n (beta + gamma)); where P is no power of two, for the next lower one and "
          "+ 2 (alpha + n beta) + n gamma",
          "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
          make,
          granule,
          cost};
}

}  // namespace athanor
