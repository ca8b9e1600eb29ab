#include "algorithms/patterns/grid_algorithm.hpp"
#include "algorithms/patterns/torus_all_reduce.hpp"

namespace athanor {

namespace {

/// The order of the dimensions is that of the hierarchy: in the group first, across the groups between.
Dimensions levels(const Collective& collective, const Layout& layout) {
  const std::uint32_t group = layout.group == 0 ? collective.ranks : layout.group;
  return {collective.ranks / group, group};
}

}  // namespace

Algorithm hierarchical_all_reduce() {
  return on_grid<TorusAllReduce>(
      {
          .name = "hierarchical",
          .kind = CollectiveKind::all_reduce,
          .summary = "reduced inside groups, all-reduced across them by ranks of one place, gathered inside; the slow "
                     "links carry "
                     "1/g",
          .formula =
              "2(g-1) alpha + 2 (g-1)/g n beta inside groups of g, 2(P/g-1) alpha + 2 (P/g-1)/(P/g) n/g beta across, + "
              "(P-1)/P n gamma; chunks overlap the two",
          .source =
              "Mikami et al., Massively distributed SGD: ImageNet/ResNet-50 training in a flash, 2018 (2D-torus "
              "all-reduce); Cho et al., BlueConnect: decomposing all-reduce for deep learning on heterogeneous network "
              "hierarchy, 2019",
          .explanation =
              "Reduce-scatter inside groups of g ranks, all-reduce across groups among the ranks of equal place, "
              "all-gather inside. Only 1/g of the payload of a rank crosses the slow links between groups.",
          .ranks = "any number of ranks that groups divide evenly; without groups it is a ring",
          .fabrics = "nodes with a fast inside and one NIC per GPU: each place has a rail of its own",
          .pipelines = true,
      },
      levels, TorusCopies{});
}

}  // namespace athanor
