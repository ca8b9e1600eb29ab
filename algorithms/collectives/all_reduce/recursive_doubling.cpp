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

}  // namespace

Algorithm recursive_doubling_all_reduce() {
  return {
      .name = "recursive_doubling",
      .kind = CollectiveKind::all_reduce,
      .summary = "partners at doubling distances swap whole sums; fewest steps, for small payloads",
      .formula =
          "log2 P (alpha + n (beta + gamma)); where P = 2^k + e, e > 0: (k+2) alpha + (k+2) n beta + (k+1) n gamma "
          "where the fold has a port of its own, and more n beta on one port",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation =
          "In step k every rank swaps its whole sum with the rank whose number differs in bit k, and adds what it "
          "gets. After log2 P steps everyone has the sum of all. Fewest steps of all without an engine, but the whole "
          "payload in each.",
      .ranks =
          "any number of ranks; with P = 2^k + e, the e ranks beyond 2^k first give their input to a partner and get "
          "the result at the end",
      .fabrics = "small payloads, where latency decides; the far exchanges need a fabric with full bisection",
      .make_for_many = make_schedule<RecursiveDoubling>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = DoublingCube::cost,
  };
}

}  // namespace athanor
