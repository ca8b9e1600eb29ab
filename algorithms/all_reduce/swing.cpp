#include "algorithms/patterns/halving_cube.hpp"
#include "algorithms/patterns/swing_partners.hpp"

namespace athanor {

namespace {

Layout both_ways(Layout layout) {
  layout.channels *= 2;
  return layout;
}

/// Odd channels swing the other way, so that both ports of a rank on a ring work at once.
class Swing final : public HalvingCube {
 public:
  using HalvingCube::HalvingCube;

 protected:
  std::uint32_t partner(std::uint32_t channel, std::uint32_t corner, std::uint32_t exchange) const override {
    return swing_partner(cube().dimensions(), corner, exchange, channel % 2 == 1);
  }
  std::uint32_t place(std::uint32_t channel, std::uint32_t corner) const override {
    return swing_place(cube().dimensions(), corner, channel % 2 == 1);
  }
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<Swing>(collective, both_ways(layout));
}

Elements granule(const Collective& collective, const Layout& layout) {
  return HalvingCube::granule(collective, both_ways(layout));
}

Cost cost(const Collective& collective) { return Swing(collective, both_ways({})).cost(); }

}  // namespace

Algorithm swing_all_reduce() {
  return {
      .name = "swing",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "halving_doubling whose partners are 1, 1, 3, 5, 11, ... ranks away to alternate sides; for rings and tori",
      .formula =
          "2 log2 P alpha + 2 (P-1)/P n beta + (P-1)/P n gamma, where no two messages share a link; where P is no "
          "power of two, for the next lower one and + 2 (alpha + n beta) + n gamma where the fold has a port of its "
          "own",
      .source = "De Sensi, Bonato, Saam and Hoefler, Swing: short-cutting rings for higher bandwidth allreduce, 2024",
      .explanation =
          "Halving and doubling whose partners are 1, 1, 3, 5, 11, ... ranks away to alternate sides, (1 - (-2)^(s+1)) "
          "/ 3 in step s: on a ring of links that is nearer than 1, 2, 4, 8, so fewer messages share a link. Odd "
          "channels swing the other way, so that both ports of a rank work at once.",
      .ranks =
          "any number of ranks; with P = 2^k + e, the e ranks beyond 2^k first give their input to a partner and get "
          "the result at the end",
      .fabrics = "rings and tori of direct links, for middle payloads",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
