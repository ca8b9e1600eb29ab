#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/engines/trees/engine_allocations.hpp"
#include "models/engines/trees/placed_tree.hpp"
#include "models/engines/trees/switch_graph.hpp"

namespace athanor {

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

}  // namespace athanor
