#include "algorithms/patterns/tree_all_reduce.hpp"

namespace athanor {

namespace {

/// Every rank is a group of its own.
Layout alone(Layout layout) {
  layout.group = 1;
  layout.orders = {};
  return layout;
}

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<TreeAllReduce>(collective, alone(layout));
}

Elements granule(const Collective& collective, const Layout& layout) {
  return TreeAllReduce::granule(collective, alone(layout));
}

/// Nobody is an inner node of both trees, but for one rank where their number is odd.
Cost cost(const Collective& collective) { return TreeAllReduce(collective, alone({})).cost(); }

}  // namespace

Algorithm double_binary_tree_all_reduce() {
  return {
      .name = "double_binary_tree",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "up and down two binary trees at once, half of the payload on each, chunk by chunk; logarithmic latency",
      .formula =
          "in one chunk and P = 2^h: 2h alpha + (2h-1) n beta + (h - 1/2) n gamma; in the best number of chunks about "
          "2n beta + 4h alpha + 2 sqrt(8 h alpha n beta) + n gamma, h = ceil(log2 P)",
      .source =
          "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009; "
          "Jeaugey, Massively scale your deep learning training with NCCL 2.4, 2019 (the form of the trees)",
      .explanation =
          "Two binary trees over the same ranks each take half of the payload: sums go up to the root, results come "
          "back down, chunk after chunk. A leaf of one tree is an inner rank of the other (but for one rank where P is "
          "odd), so that no rank sends more than the payload twice, while the depth is only logarithmic.",
      .ranks = "any number of ranks",
      .fabrics = "many ranks where the steps of a ring cost too much; needs several chunks to reach its bandwidth",
      .pipelines = true,
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
