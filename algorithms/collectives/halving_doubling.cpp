#include "algorithms/patterns/cube_all_reduce.hpp"

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

/// Far partners first, as in a reduce-scatter by recursive halving and an all-gather by recursive doubling: corner r
/// finishes piece r, and the long messages go to the farthest ranks. halving_doubling goes the other way round.
class Rabenseifner final : public HalvingCube {
 public:
  using HalvingCube::HalvingCube;

 protected:
  std::uint32_t partner(std::uint32_t, std::uint32_t corner, std::uint32_t exchange) const override {
    return corner ^ (cube().corners() >> (exchange + 1));
  }
  std::uint32_t place(std::uint32_t, std::uint32_t corner) const override { return corner; }
};

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
      .cost_in_shape = cost_of_schedule<HalvingDoubling>,
  };
}

Algorithm rabenseifner_all_reduce() {
  Algorithm algorithm = halving_doubling_all_reduce();
  algorithm.name = "rabenseifner";
  algorithm.summary =
      "reduce-scatter by recursive halving, all-gather by recursive doubling: as halving_doubling, far partners "
      "first";
  algorithm.source =
      "Rabenseifner, Optimization of collective reduction operations, 2004; Thakur, Rabenseifner and Gropp, "
      "Optimization of collective communication operations in MPICH, 2005";
  algorithm.explanation =
      "Reduce-scatter by recursive halving, then all-gather by recursive doubling: far partners first, so that "
      "rank r finishes piece r. In steps and traffic as halving_doubling, which goes the other way round and keeps "
      "its long messages near.";
  algorithm.make_for_many = make_schedule<Rabenseifner>;
  algorithm.cost_in_shape = cost_of_schedule<Rabenseifner>;
  return algorithm;
}

}  // namespace athanor
