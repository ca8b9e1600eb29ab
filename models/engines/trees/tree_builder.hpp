#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/schedule/aggregation_tree.hpp"
#include "models/engines/trees/engine_allocations.hpp"
#include "models/engines/trees/switch_graph.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// An aggregation tree on a fabric.
struct PlacedTree {
  std::shared_ptr<const AggregationTree> tree;
  std::vector<VertexId> switches;  ///< by node
};

/// Where engines are, and what of them is held.
struct EngineState {
  const SwitchGraph& graph;
  const EngineLimits& limits;
  const std::vector<bool>& places;  ///< which switches have an engine, by number
  const EngineAllocations& allocations;
};

/// A tree, and what it takes.
struct GrownTree {
  PlacedTree placed;
  AllocatedTree held;
};

/// A tree below one top, while ranks are added to it.
class GrowingTree {
 public:
  /// Borrows the state. Requires that `top` has an engine.
  GrowingTree(const EngineState& state, std::uint32_t job, bool streaming, std::uint32_t top);

  /// Joins a switch that ranks are on to the top by a shortest way: of several over what has room for one more tree,
  /// then over what is in the tree already, then where the fewest trees are, then in the order of ports. Requires that
  /// the top reaches it.
  void add(std::uint32_t lowest);

  /// The tree for ranks at these places, all of whose switches were added: who has no engine only passes on, and so
  /// does who has nothing to add up. A rank hangs on the first switch with an engine on its way.
  GrownTree finish(std::span<const SwitchGraph::Attachment> of_ranks) const;

 private:
  struct Counts;
  bool is_better(std::uint32_t from, const SwitchGraph::Edge& edge, const SwitchGraph::Edge& than) const;
  bool is_blocked(std::uint32_t from, const SwitchGraph::Edge& edge) const;
  std::vector<std::uint32_t> members_downwards() const;
  Counts count(std::span<const SwitchGraph::Attachment> of_ranks) const;
  AllocatedTree held(const Counts& counts, std::span<const SwitchGraph::Attachment> of_ranks) const;

  EngineState state_;
  std::uint32_t job_;
  bool streaming_;
  std::uint32_t top_;
  std::vector<std::uint32_t> distance_;     ///< to the top, by switch
  std::vector<bool> in_tree_;               ///< by switch
  std::vector<SwitchGraph::Edge> upwards_;  ///< by switch: how it is joined to the next one on its way
  std::vector<std::uint32_t> members_;      ///< switches in the tree, in the order of joining
};

/// Why there is no tree. Code: "no-switch", "no-common-root", "aggregation-radix", or "engines-exhausted" where others
/// hold what it needs.
struct TreeRefusal {
  std::string code;
  std::string reason;  ///< in words, with who holds what
};

/// Builds one tree for the ranks on `endpoints`, whose top is a switch with an engine that has the least distance to
/// the farthest of the switches next to them. Of several the one that is nearest to all together, of those the one that
/// is the top of the fewest trees, and of those the first; where that tree has no room, the next of those with the same
/// least distance. What is refused may fit in another way, for ways to a top are chosen switch by switch. Requires at
/// least one endpoint.
std::variant<GrownTree, TreeRefusal> build_tree(const EngineState& state, std::uint32_t job, bool streaming,
                                                std::span<const VertexId> endpoints);

}  // namespace athanor
