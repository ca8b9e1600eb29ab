#include "models/engines/trees/tree_builder.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/core.h>

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

namespace {

using Attachment = SwitchGraph::Attachment;

/// How far a switch is from those that ranks are on.
struct Nearness {
  std::uint32_t farthest = 0;
  std::uint64_t together = 0;
};

class Building {
 public:
  Building(const EngineState& state, std::uint32_t job, bool streaming, std::span<const VertexId> endpoints)
      : state_(state), job_(job), streaming_(streaming), endpoints_(endpoints) {}

  std::variant<GrownTree, TreeRefusal> build() {
    require(!endpoints_.empty(), "a tree for no rank");
    if (auto refusal = find_lowest()) { return *refusal; }
    if (auto refusal = crowded_below()) { return *refusal; }
    const std::vector<std::uint32_t> tops = nearest_tops();
    if (tops.empty()) { return no_common_root(); }
    std::optional<TreeRefusal> first;
    for (const std::uint32_t top : tops) {
      GrownTree grown = below(top);
      std::optional<TreeRefusal> refusal = crowded(grown);
      if (!refusal) { return grown; }
      if (!first) { first = std::move(refusal); }
    }
    return *first;
  }

 private:
  std::optional<TreeRefusal> find_lowest() {
    const std::vector<std::optional<Attachment>> found = state_.graph.attachments(endpoints_);
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      if (!found[rank]) {
        return TreeRefusal{"no-switch", fmt::format("{} is on no switch of a network, so nothing can aggregate for it",
                                                    name(endpoints_[rank]))};
      }
      of_ranks_.push_back(*found[rank]);
      lowest_.push_back(found[rank]->on);
    }
    std::sort(lowest_.begin(), lowest_.end());
    lowest_.erase(std::unique(lowest_.begin(), lowest_.end()), lowest_.end());
    return std::nullopt;
  }

  /// What no choice of a top can help: a switch next to ranks that has an engine adds them up.
  std::optional<TreeRefusal> crowded_below() const {
    if (state_.allocations.full(streaming_)) { return exhausted(state_.allocations.why(streaming_)); }
    std::map<std::uint32_t, std::uint32_t> ranks;
    for (const Attachment& rank : of_ranks_) {
      if (!state_.places[rank.on]) { continue; }
      ++ranks[rank.on];
      if (state_.allocations.full(rank.port, streaming_)) { return exhausted(state_.allocations.why(rank.port, job_)); }
    }
    for (const auto& [at, count] : ranks) {
      const VertexId vertex = state_.graph.vertex(at);
      if (count > state_.limits.children) { return too_many(vertex, count); }
      if (state_.allocations.full(vertex, job_, streaming_)) {
        return exhausted(state_.allocations.why(vertex, job_, streaming_));
      }
    }
    return std::nullopt;
  }

  /// Of all switches, by number. Switches that ranks are on and that have the same neighbours see every other switch
  /// from the same distance, and each other from two cables away: one of them stands for all.
  std::vector<Nearness> nearness() const {
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> alike;
    for (const std::uint32_t at : lowest_) {
      std::vector<std::uint32_t> neighbours;
      for (const SwitchGraph::Edge& edge : state_.graph.edges(at)) { neighbours.push_back(edge.to); }
      std::sort(neighbours.begin(), neighbours.end());
      alike[neighbours].push_back(at);
    }
    std::vector<Nearness> all(state_.graph.size());
    for (const auto& [neighbours, members] : alike) {
      std::vector<std::uint32_t> distance = state_.graph.distances(members.front());
      const auto others = static_cast<std::uint32_t>(members.size() - 1);
      const std::uint32_t between = neighbours.empty() ? SwitchGraph::kFar : 2;
      for (std::uint32_t at = 0; at < all.size(); ++at) {
        const bool member = std::binary_search(members.begin(), members.end(), at);
        const std::uint32_t farthest = !member ? distance[at] : others > 0 ? between : 0;
        all[at].farthest = std::max(all[at].farthest, farthest);
        all[at].together += member ? std::uint64_t{between} * others : std::uint64_t{distance[at]} * (others + 1);
      }
    }
    return all;
  }

  std::vector<std::uint32_t> nearest_tops() const {
    const std::vector<Nearness> all = nearness();
    std::uint32_t least = SwitchGraph::kFar;
    for (std::uint32_t at = 0; at < all.size(); ++at) {
      if (state_.places[at]) { least = std::min(least, all[at].farthest); }
    }
    std::vector<std::uint32_t> tops;
    for (std::uint32_t at = 0; at < all.size() && least != SwitchGraph::kFar; ++at) {
      if (state_.places[at] && all[at].farthest == least) { tops.push_back(at); }
    }
    const auto rank = [&](std::uint32_t at) {
      return std::pair(all[at].together, state_.allocations.tops(state_.graph.vertex(at)));
    };
    std::stable_sort(tops.begin(), tops.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
    return tops;
  }

  TreeRefusal no_common_root() const {
    const auto& places = state_.places;
    if (std::find(places.begin(), places.end(), true) == places.end()) {
      return {"no-common-root", "no switch of the network has an engine"};
    }
    const std::vector<std::uint32_t> reached = state_.graph.distances(lowest_.front());
    for (const std::uint32_t at : lowest_) {
      if (reached[at] != SwitchGraph::kFar) { continue; }
      return {"no-common-root", fmt::format("no switch reaches all ranks over switches: {} and {} are not joined",
                                            name(state_.graph.vertex(lowest_.front())), name(state_.graph.vertex(at)))};
    }
    return {"no-common-root", "no switch that has an engine reaches all ranks over switches"};
  }

  GrownTree below(std::uint32_t top) const {
    GrowingTree growing(state_, job_, streaming_, top);
    for (const std::uint32_t at : lowest_) { growing.add(at); }
    return growing.finish(of_ranks_);
  }

  std::optional<TreeRefusal> crowded(const GrownTree& grown) const {
    for (std::uint32_t node = 0; node < grown.placed.switches.size(); ++node) {
      const VertexId at = grown.placed.switches[node];
      const std::size_t children = grown.placed.tree->children(node).size();
      if (children > state_.limits.children) { return too_many(at, children); }
      if (state_.allocations.full(at, job_, streaming_)) {
        return exhausted(state_.allocations.why(at, job_, streaming_));
      }
    }
    for (const LinkId port : grown.held.ports) {
      if (state_.allocations.full(port, streaming_)) { return exhausted(state_.allocations.why(port, job_)); }
    }
    return std::nullopt;
  }

  TreeRefusal too_many(VertexId at, std::size_t children) const {
    return {"aggregation-radix",
            fmt::format("{} would have {} children, and takes {}", name(at), children, state_.limits.children)};
  }
  static TreeRefusal exhausted(std::string reason) { return {"engines-exhausted", std::move(reason)}; }
  std::string name(VertexId vertex) const { return state_.graph.fabric().name(vertex); }

  const EngineState& state_;
  std::uint32_t job_;
  bool streaming_;
  std::span<const VertexId> endpoints_;
  std::vector<Attachment> of_ranks_;
  std::vector<std::uint32_t> lowest_;  ///< switches that ranks are on, each once, ascending
};

}  // namespace

std::variant<GrownTree, TreeRefusal> build_tree(const EngineState& state, std::uint32_t job, bool streaming,
                                                std::span<const VertexId> endpoints) {
  return Building(state, job, streaming, endpoints).build();
}

}  // namespace athanor
