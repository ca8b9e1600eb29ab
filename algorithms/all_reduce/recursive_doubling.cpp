#include "algorithms/patterns/doubling_cube.hpp"

namespace athanor {

namespace {

/// In exchange d the corners that differ in bit d swap their sums.
class RecursiveDoubling final : public DoublingCube {
 public:
  using DoublingCube::DoublingCube;

 protected:
  std::uint32_t partner(std::uint32_t, std::uint32_t corner, std::uint32_t exchange) const override {
    return corner ^ (1U << exchange);
  }
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<RecursiveDoubling>(collective, layout);
}

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, layout); }

}  // namespace

Algorithm recursive_doubling_all_reduce() {
  return {
      .name = "recursive_doubling",
      .kind = CollectiveKind::all_reduce,
      .summary = "partners at doubling distances swap whole sums; fewest steps, for small payloads",
      .formula =
          "log2 P (alpha + n (beta + gamma)); where P is no power of two, for the next lower one and + 2 (alpha + n "
          "beta) + n gamma",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = DoublingCube::cost,
  };
}

}  // namespace athanor
