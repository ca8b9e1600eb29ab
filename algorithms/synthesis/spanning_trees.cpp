#include "algorithms/synthesis/spanning_trees.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "algorithms/synthesis/max_flow.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// A tree that does not reach all ranks yet.
struct GrowingTree {
  SpanningTree tree;
  std::vector<std::uint32_t> ranks;  ///< in the order in which it reached them
  std::vector<bool> reaches;
};

class Packing {
 public:
  Packing(const CapacityGraph& graph, std::int64_t units) : graph_(graph), out_(graph.ranks) {
    for (std::uint32_t i = 0; i < graph.links.size(); ++i) {
      left_.push_back(graph.links[i].capacity);
      out_[graph.links[i].from].push_back(i);
    }
    for (std::uint32_t rank = graph.ranks; rank-- > 0;) {
      GrowingTree seed{{rank, units, {}}, {rank}, std::vector<bool>(graph.ranks)};
      seed.reaches[rank] = true;
      open_.push_back(std::move(seed));
    }
  }

  std::vector<SpanningTree> pack() && {
    while (!open_.empty()) {
      GrowingTree tree = std::move(open_.back());
      open_.pop_back();
      while (tree.ranks.size() < graph_.ranks) { grow(tree); }
      done_.push_back(std::move(tree.tree));
    }
    return std::move(done_);
  }

 private:
  /// By the first link that it may have, of ranks that it reached early before others: so trees stay low.
  void grow(GrowingTree& tree) {
    for (const std::uint32_t from : tree.ranks) {
      for (const std::uint32_t link : widest_first(from)) {
        const std::uint32_t to = graph_.links[link].to;
        if (tree.reaches[to] || left_[link] == 0) { continue; }
        const std::int64_t units = std::min({left_[link], tree.tree.units, spare(from, to)});
        if (units <= 0) { continue; }
        return add(tree, link, units);
      }
    }
    require(false, "a tree of {} that cannot grow", tree.tree.root);
  }

  std::vector<std::uint32_t> widest_first(std::uint32_t from) const {
    std::vector<std::uint32_t> links = out_[from];
    std::stable_sort(links.begin(), links.end(), [&](std::uint32_t a, std::uint32_t b) { return left_[a] > left_[b]; });
    return links;
  }

  void add(GrowingTree& tree, std::uint32_t link, std::int64_t units) {
    if (units < tree.tree.units) {
      GrowingTree rest = tree;
      rest.tree.units -= units;
      open_.push_back(std::move(rest));
      tree.tree.units = units;
    }
    left_[link] -= units;
    tree.tree.links.push_back({graph_.links[link].from, graph_.links[link].to});
    tree.ranks.push_back(graph_.links[link].to);
    tree.reaches[graph_.links[link].to] = true;
  }

  /// What the links into any set with `to` and without `from` carry beyond the units of other trees that do not reach
  /// the set yet, at the least.
  std::int64_t spare(std::uint32_t from, std::uint32_t to) const {
    MaxFlow flow(graph_.ranks + static_cast<std::uint32_t>(open_.size()));
    for (std::uint32_t i = 0; i < graph_.links.size(); ++i) {
      if (left_[i] > 0) { flow.add(graph_.links[i].from, graph_.links[i].to, left_[i]); }
    }
    std::int64_t others = 0;
    for (std::uint32_t i = 0; i < open_.size(); ++i) {
      const GrowingTree& other = open_[i];
      others += other.tree.units;
      flow.add(from, graph_.ranks + i, other.tree.units);
      for (const std::uint32_t rank : other.ranks) { flow.add(graph_.ranks + i, rank, MaxFlow::kUnlimited); }
    }
    return flow.flow(from, to) - others;
  }

  const CapacityGraph& graph_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::vector<std::int64_t> left_;  ///< by link
  std::vector<GrowingTree> open_;
  std::vector<SpanningTree> done_;
};

}  // namespace

std::vector<SpanningTree> pack_trees(const CapacityGraph& graph, std::int64_t units) {
  require(graph.vertices == graph.ranks, "{} switches among trees", graph.vertices - graph.ranks);
  return Packing(graph, units).pack();
}

Ratio greatest_load(const CapacityGraph& graph, const std::vector<SpanningTree>& trees) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> loads;
  for (const SpanningTree& tree : trees) {
    for (const TreeLink& link : tree.links) { loads[{link.from, link.to}] += tree.units; }
  }
  Ratio greatest{0, 1};
  for (const CapacityLink& link : graph.links) {
    greatest = std::max(greatest, Ratio{loads[{link.from, link.to}], link.capacity});
  }
  return greatest;
}

}  // namespace athanor
