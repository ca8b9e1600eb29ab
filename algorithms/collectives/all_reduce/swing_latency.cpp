#include "algorithms/patterns/doubling_cube.hpp"
#include "algorithms/patterns/swing_grid.hpp"

namespace athanor {

namespace {

class SwingLatency final : public DoublingCube {
 public:
  SwingLatency(const Collective& collective, const Layout& layout)
      : DoublingCube(collective, SwingGrid::copied(collective.ranks, layout)), grid_(collective.ranks, layout) {}

 protected:
  std::uint32_t partner(std::uint32_t channel, std::uint32_t corner, std::uint32_t exchange) const override {
    return grid_.partner(channel, corner, exchange);
  }

 private:
  SwingGrid grid_;
};

Elements granule(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(1, SwingGrid::copied(collective.ranks, layout));
}

std::optional<std::string> refuse(const Collective&, const Layout& layout) { return SwingGrid::refuse(layout); }

}  // namespace

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
      .granule_for_many = granule,
      .cost_for_many = DoublingCube::cost,
      .refuses_many = refuse,
  };
}

}  // namespace athanor
