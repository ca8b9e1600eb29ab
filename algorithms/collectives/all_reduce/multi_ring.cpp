#include "algorithms/patterns/cycle_all_reduce.hpp"
#include "algorithms/patterns/disjoint_cycles.hpp"

namespace athanor {

namespace {

DisjointCycles cycles_of(const Collective& collective, const Layout& layout) {
  const auto& [dimensions, rings] = layout.as<GridShape>();
  return {collective.ranks, dimensions, rings == 0 ? 8 : rings};
}

/// Each channel uses every cycle.
Layout on_all_cycles(const Collective& collective, Layout layout) {
  layout.channels *= cycles_of(collective, layout).count();
  return layout;
}

class MultiRing final : public CycleAllReduce {
 public:
  MultiRing(const Collective& collective, const Layout& layout)
      : CycleAllReduce(collective, on_all_cycles(collective, layout)), cycles_(cycles_of(collective, layout)) {}

 protected:
  std::uint32_t position(std::uint32_t ring, std::uint32_t rank) const override {
    return cycles_.position(ring % cycles_.count(), rank);
  }
  std::uint32_t rank_at(std::uint32_t ring, std::uint32_t position) const override {
    return cycles_.rank_at(ring % cycles_.count(), position);
  }

 private:
  DisjointCycles cycles_;
};

Elements granule(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(collective.ranks, on_all_cycles(collective, layout));
}

Cost cost(const Collective& collective, const Layout& layout) { return MultiRing(collective, layout).cost(); }

std::optional<std::string> refuse(const Collective&, const Layout& layout) {
  return DisjointCycles::refuse(layout.as<GridShape>().dimensions);
}

}  // namespace

Algorithm multi_ring_all_reduce() {
  return {
      .name = "multi_ring",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "rings that share no link, with strides that have no divisor in common with P (as many as there are, at most "
          "8 or as asked for), or four in a torus of two dimensions; for ranks with several ports",
      .formula = "2(P-1) alpha + 2 (P-1)/(P R) n beta + (P-1)/P n gamma for R rings, beta that of one of R ports",
      .source =
          "Bae, AlBdaiwi and Bose, Edge-disjoint Hamiltonian cycles in two-dimensional torus, 2004; Hoefler et al., "
          "HammingMesh: a network topology for large-scale deep learning, 2022",
      .explanation =
          "R rings take a share of the payload each, and no two use the same link: on ranks that all reach each other "
          "the rings stride by numbers that have no divisor in common with P, both ways; in a torus of two dimensions "
          "a x b there are four, two Hamiltonian cycles both ways.",
      .ranks =
          "any number of ranks (at most phi(P) rings, Euler's function, and 8 or as asked for); with dimensions a >= b "
          ">= 3 where b divides a, and a and b-1 have no common divisor",
      .fabrics = "ranks with several ports: GPUs joined pairwise, or a torus of two dimensions",
      .takes_dimensions = true,
      .make_for_many = make_schedule<MultiRing>,
      .granule_for_many = granule,
      .cost_in_shape = cost,
      .refuses_many = refuse,
  };
}

}  // namespace athanor
