#include "models/engines/trees/growing_tree.hpp"

#include <algorithm>
#include <tuple>

#include "sim/check.hpp"

namespace athanor {

/// By switch.
struct GrowingTree::Counts {
  std::vector<std::uint32_t> engine;    ///< itself, or the first one with an engine on its way
  std::vector<std::uint32_t> children;  ///< nodes and ranks that hang on it, where it has an engine
  std::vector<bool> node;               ///< does it add up?
};

GrowingTree::GrowingTree(const EngineState& state, std::uint32_t job, bool streaming, std::uint32_t top)
    : state_(state),
      job_(job),
      streaming_(streaming),
      top_(top),
      distance_(state.graph.distances(top)),
      in_tree_(state.graph.size()),
      upwards_(state.graph.size()),
      members_{top} {
  in_tree_[top] = true;
}

void GrowingTree::add(std::uint32_t lowest) {
  for (std::uint32_t at = lowest; !in_tree_[at];) {
    const SwitchGraph::Edge* best = nullptr;
    for (const SwitchGraph::Edge& edge : state_.graph.edges(at)) {
      if (distance_[edge.to] + 1 != distance_[at]) { continue; }
      if (best == nullptr || is_better(at, edge, *best)) { best = &edge; }
    }
    require(best != nullptr, "switch {} is not joined to the top", at);
    in_tree_[at] = true;
    upwards_[at] = *best;
    members_.push_back(at);
    at = best->to;
  }
}

bool GrowingTree::is_better(std::uint32_t from, const SwitchGraph::Edge& edge, const SwitchGraph::Edge& than) const {
  const auto rank = [&](const SwitchGraph::Edge& e) {
    return std::tuple(is_blocked(from, e), !in_tree_[e.to], state_.allocations.trees(state_.graph.vertex(e.to)));
  };
  return rank(edge) < rank(than);
}

bool GrowingTree::is_blocked(std::uint32_t from, const SwitchGraph::Edge& edge) const {
  const EngineAllocations& allocations = state_.allocations;
  if (state_.places[from] && allocations.full(edge.out, streaming_)) { return true; }
  if (!state_.places[edge.to]) { return false; }
  return allocations.full(edge.back, streaming_) || allocations.full(state_.graph.vertex(edge.to), job_, streaming_);
}

/// By distance from the top, then by number.
std::vector<std::uint32_t> GrowingTree::members_downwards() const {
  std::vector<std::uint32_t> members = members_;
  std::sort(members.begin(), members.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::pair(distance_[a], a) < std::pair(distance_[b], b); });
  return members;
}

GrowingTree::Counts GrowingTree::count(std::span<const SwitchGraph::Attachment> of_ranks) const {
  const std::vector<std::uint32_t> members = members_downwards();
  Counts counts{std::vector<std::uint32_t>(state_.graph.size()), std::vector<std::uint32_t>(state_.graph.size()),
                std::vector<bool>(state_.graph.size())};
  for (const std::uint32_t at : members) {
    counts.engine[at] = state_.places[at] ? at : counts.engine[upwards_[at].to];
  }
  std::vector<bool> has_rank(state_.graph.size());
  for (const SwitchGraph::Attachment& rank : of_ranks) {
    has_rank[counts.engine[rank.on]] = true;
    ++counts.children[counts.engine[rank.on]];
  }
  for (auto at = members.rbegin(); at != members.rend(); ++at) {
    counts.node[*at] = state_.places[*at] && (counts.children[*at] > 1 || has_rank[*at]);
    if (*at == top_ || !state_.places[*at]) { continue; }
    const std::uint32_t above = counts.engine[upwards_[*at].to];
    counts.children[above] += counts.node[*at] ? 1 : counts.children[*at];
  }
  require(counts.node[top_], "the top of a tree has nothing to add up");
  return counts;
}

AllocatedTree GrowingTree::held(const Counts& counts, std::span<const SwitchGraph::Attachment> of_ranks) const {
  AllocatedTree held{job_, streaming_, {}, {}};
  for (const std::uint32_t at : members_) {
    if (at == top_) { continue; }
    if (counts.node[at]) { held.ports.push_back(upwards_[at].out); }
    if (counts.node[upwards_[at].to]) { held.ports.push_back(upwards_[at].back); }
  }
  for (const SwitchGraph::Attachment& rank : of_ranks) {
    if (counts.node[rank.on]) { held.ports.push_back(rank.port); }
  }
  std::sort(held.ports.begin(), held.ports.end());
  held.ports.erase(std::unique(held.ports.begin(), held.ports.end()), held.ports.end());
  return held;
}

GrownTree GrowingTree::finish(std::span<const SwitchGraph::Attachment> of_ranks) const {
  const Counts counts = count(of_ranks);
  GrownTree grown{{}, held(counts, of_ranks)};
  std::vector<std::uint32_t> node_of(state_.graph.size());
  std::vector<std::uint32_t> parents;
  for (const std::uint32_t at : members_downwards()) {
    if (!counts.node[at]) { continue; }
    node_of[at] = static_cast<std::uint32_t>(parents.size());
    std::uint32_t above = at;
    while (above != top_ && (above == at || !counts.node[above])) { above = upwards_[above].to; }
    parents.push_back(node_of[above]);
    grown.placed.switches.push_back(state_.graph.vertex(at));
  }
  std::vector<std::uint32_t> nodes_of_ranks;
  for (const SwitchGraph::Attachment& rank : of_ranks) { nodes_of_ranks.push_back(node_of[counts.engine[rank.on]]); }
  grown.placed.tree = std::make_shared<const AggregationTree>(std::move(parents), std::move(nodes_of_ranks));
  grown.held.switches = grown.placed.switches;
  return grown;
}

}  // namespace athanor
