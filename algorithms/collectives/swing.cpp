#include "algorithms/patterns/swing.hpp"

#include "algorithms/patterns/cube_all_reduce.hpp"

namespace athanor {

namespace {

/// A cube whose corners are the places of a grid, and whose partners are as far away as Swing says.
template <class Cube>
class SwingCube : public Cube {
 public:
  SwingCube(const Collective& collective, const Layout& layout)
      : Cube(collective, SwingGrid::copied(collective.ranks, layout)), grid_(collective.ranks, layout) {}

 protected:
  std::uint32_t partner(std::uint32_t channel, std::uint32_t corner, std::uint32_t exchange) const override {
    return grid_.partner(channel, corner, exchange);
  }

  SwingGrid grid_;
};

class Swing final : public SwingCube<HalvingCube> {
 public:
  using SwingCube::SwingCube;

 protected:
  std::uint32_t place(std::uint32_t channel, std::uint32_t corner) const override {
    return grid_.place(channel, corner);
  }
};

using SwingLatency = SwingCube<DoublingCube>;

Elements granule_of_swing(const Collective& collective, const Layout& layout) {
  return HalvingCube::granule(collective, SwingGrid::copied(collective.ranks, layout));
}

std::optional<std::string> refuse(const Collective&, const Layout& layout) { return SwingGrid::refuse(layout); }

Elements granule_of_latency(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(1, SwingGrid::copied(collective.ranks, layout));
}

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
          "/ 3 in step s: on a ring of links that is nearer than 1, 2, 4, 8, so fewer messages share a link. On a "
          "torus of D dimensions steps go along one dimension after the other. 2D copies, one for each dimension to "
          "begin with and each way round, use all ports at once.",
      .ranks =
          "any number of ranks; with P = 2^k + e, the e ranks beyond 2^k first give their input to a partner and get "
          "the result at the end; with several dimensions, whose sides must be powers of two, no rank is beyond",
      .fabrics = "rings and tori of direct links, for middle payloads",
      .takes_dimensions = true,
      .make_for_many = make_schedule<Swing>,
      .granule_for_many = granule_of_swing,
      .cost_in_shape = cost_of_schedule<Swing>,
      .refuses_many = refuse,
  };
}

Algorithm swing_latency_all_reduce() {
  return {
      .name = "swing_latency",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "recursive_doubling between the partners of swing: whole sums in the fewest steps; for small payloads on "
          "rings",
      .formula =
          "log2 P (alpha + n (beta + gamma)), where no two messages share a link; where P = 2^k + e, e > 0: (k+2) "
          "alpha + (k+2) n beta + (k+1) n gamma where the fold has a port of its own",
      .source = "De Sensi, Bonato, Saam and Hoefler, Swing: short-cutting rings for higher bandwidth allreduce, 2024",
      .explanation =
          "Recursive doubling between the partners of swing: whole sums in log2 P steps, over shorter ways than "
          "doubling distances on a ring of links.",
      .ranks =
          "any number of ranks; with P = 2^k + e, the e ranks beyond 2^k first give their input to a partner and get "
          "the result at the end; with several dimensions, whose sides must be powers of two, no rank is beyond",
      .fabrics = "rings and tori of direct links, for small payloads",
      .takes_dimensions = true,
      .make_for_many = make_schedule<SwingLatency>,
      .granule_for_many = granule_of_latency,
      .cost_for_many = DoublingCube::cost,
      .refuses_many = refuse,
  };
}

}  // namespace athanor
