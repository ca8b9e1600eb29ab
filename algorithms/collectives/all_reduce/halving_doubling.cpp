#include "algorithms/patterns/halving_cube.hpp"

namespace athanor {

namespace {

/// Near partners first: exchange d is along bit d, so that the long messages go to the nearest ranks.
class HalvingDoubling final : public HalvingCube {
 public:
  using HalvingCube::HalvingCube;

 protected:
  std::uint32_t partner(std::uint32_t, std::uint32_t corner, std::uint32_t exchange) const override {
    return corner ^ (1U << exchange);
  }
  std::uint32_t place(std::uint32_t, std::uint32_t corner) const override {
    return bits_reversed(corner, cube().dimensions());
  }
};

Cost cost(const Collective& collective) { return HalvingDoubling(collective, {}).cost(); }

}  // namespace

Algorithm halving_doubling_all_reduce() {
  return {
      .name = "halving_doubling",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "halves of the sum are swapped at doubling distances, then the results; least traffic in 2 log2 P steps",
      .formula =
          "2 log2 P alpha + 2 (P-1)/P n beta + (P-1)/P n gamma; where P is no power of two, for the next lower one and "
          "+ 2 (alpha + n beta) + n gamma where the fold has a port of its own",
      .source = "Rabenseifner, Optimization of collective reduction operations, 2004",
      .explanation =
          "Partners at doubling distances swap halves: each keeps summing up one half of what it had, so that the "
          "messages halve from step to step; then the finished pieces are swapped on the way back and double. The "
          "traffic of a ring in 2 log2 P steps. Near partners come first, so the longest messages stay near.",
      .ranks =
          "any number of ranks; with P = 2^k + e, the e ranks beyond 2^k first give their input to a partner and get "
          "the result at the end",
      .fabrics = "middle and large payloads on fabrics with full bisection; powers of two",
      .make_for_many = make_schedule<HalvingDoubling>,
      .granule_for_many = HalvingCube::granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
