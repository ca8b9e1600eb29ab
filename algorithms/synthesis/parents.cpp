#include "algorithms/synthesis/parents.hpp"

#include <algorithm>

namespace athanor {

namespace {

/// Changes from whom one rank gets its units.
class RankBalance {
 public:
  RankBalance(std::uint32_t rank, const std::vector<CapacityLink>& into, Parents& parents)
      : rank_(rank), into_(into), parents_(parents), carried_(into.size()) {
    for (std::uint32_t unit = 0; unit < parents.size(); ++unit) {
      for (std::uint32_t link = 0; link < into.size(); ++link) {
        if (parents[unit][rank] == into[link].from) { carried_[link].push_back(unit); }
      }
    }
  }

  bool run() {
    bool changed = false;
    for (std::uint32_t link = 0; link < into_.size(); ++link) {
      while (excess(link) > 0 && relieve(link)) { changed = true; }
    }
    return changed;
  }

 private:
  struct Step {
    std::uint32_t from = 0;  ///< link
    std::uint32_t unit = 0;
  };

  std::int64_t excess(std::uint32_t link) const {
    return static_cast<std::int64_t>(carried_[link].size()) - into_[link].capacity;
  }

  /// Moves one unit away, and others that make room for it.
  bool relieve(std::uint32_t overloaded) {
    std::vector<std::optional<Step>> reached(into_.size());
    std::vector<std::uint32_t> queue{overloaded};
    reached[overloaded] = Step{overloaded, 0};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (std::uint32_t to = 0; to < into_.size(); ++to) {
        if (reached[to]) { continue; }
        reached[to] = movable(queue[i], to);
        if (!reached[to]) { continue; }
        if (excess(to) < 0) { return move_along(reached, overloaded, to); }
        queue.push_back(to);
      }
    }
    return false;
  }

  std::optional<Step> movable(std::uint32_t from, std::uint32_t to) const {
    for (const std::uint32_t unit : carried_[from]) {
      if (!is_below(into_[to].from, unit)) { return Step{from, unit}; }
    }
    return std::nullopt;
  }

  bool is_below(std::uint32_t other, std::uint32_t unit) const {
    for (; other != kNoParent; other = parents_[unit][other]) {
      if (other == rank_) { return true; }
    }
    return false;
  }

  bool move_along(const std::vector<std::optional<Step>>& reached, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t link = last; link != first;) {
      const Step step = *reached[link];
      std::erase(carried_[step.from], step.unit);
      carried_[link].push_back(step.unit);
      parents_[step.unit][rank_] = into_[link].from;
      link = step.from;
    }
    return true;
  }

  std::uint32_t rank_;
  const std::vector<CapacityLink>& into_;
  Parents& parents_;
  std::vector<std::vector<std::uint32_t>> carried_;  ///< by link into the rank, units
};

void add_children(const std::vector<std::vector<std::uint32_t>>& children, SpanningTree& tree) {
  std::vector<std::uint32_t> queue{tree.root};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t child : children[queue[i]]) {
      tree.links.push_back({queue[i], child});
      queue.push_back(child);
    }
  }
}

}  // namespace

void balance(const CapacityGraph& graph, Parents& parents) {
  std::vector<std::vector<CapacityLink>> into(graph.ranks);
  for (const CapacityLink& link : graph.links) { into[link.to].push_back(link); }
  constexpr int kMostRounds = 4;
  bool changed = true;
  for (int i = 0; i < kMostRounds && changed; ++i) {
    changed = false;
    for (std::uint32_t rank = 0; rank < graph.ranks; ++rank) {
      changed = RankBalance(rank, into[rank], parents).run() || changed;
    }
  }
}

std::vector<SpanningTree> trees_of(const Parents& parents, std::uint32_t units) {
  std::vector<SpanningTree> trees;
  for (std::uint32_t unit = 0; unit < parents.size(); ++unit) {
    std::vector<std::vector<std::uint32_t>> children(parents[unit].size());
    for (std::uint32_t rank = 0; rank < parents[unit].size(); ++rank) {
      if (parents[unit][rank] != kNoParent) { children[parents[unit][rank]].push_back(rank); }
    }
    add_children(children, trees.emplace_back(SpanningTree{unit / units, 1, {}}));
  }
  return trees;
}

}  // namespace athanor
