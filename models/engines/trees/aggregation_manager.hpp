#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/engines/engine_limits.hpp"
#include "models/engines/trees/engine_allocations.hpp"
#include "models/engines/trees/switch_graph.hpp"
#include "models/engines/trees/tree_builder.hpp"

namespace athanor {

/// What a job asks of the aggregation manager: trees for each of several groups of ranks (the whole job, or the GPUs of
/// one rail each), named by the devices that they are on.
struct TreeRequest {
  std::uint32_t job = 0;
  std::vector<std::vector<VertexId>> groups;
  bool streaming = false;           ///< for large messages at line rate; else of low latency
  std::uint32_t trees_of_each = 1;  ///< of every group
};

/// The trees of a request, those of one group after the other; or why there are none.
struct TreeGrant {
  std::vector<PlacedTree> trees;
  std::optional<TreeRefusal> refusal;
};

/// Grants the aggregation trees of one network to jobs and takes them back, as SHARP's aggregation manager does: builds
/// each on the physical fabric (see build_tree()), counts what jobs hold against what the engines have, and spreads
/// trees over tops. Which of several parallel cables a message takes is for routing
/// to say; streaming trees are counted on the first of them that is free.
class AggregationManager {
 public:
  /// Borrows the fabric. `network`: which, of several side by side; none: all. Throws ScenarioError ("no-such-switch",
  /// see wrong_places()).
  explicit AggregationManager(const Fabric& fabric, EngineLimits limits = {},
                              std::optional<std::uint8_t> network = std::nullopt);
  AggregationManager(const AggregationManager&) = delete;
  AggregationManager& operator=(const AggregationManager&) = delete;

  /// All trees or none. A job may ask again, for more. Requires groups, none of them empty.
  TreeGrant grant(const TreeRequest& request);
  /// Takes back all that a job holds; nothing where it holds none.
  void release(std::uint32_t job);

  /// The trees that a job holds.
  std::vector<AllocatedTree> held(std::uint32_t job) const;
  /// What is held at present.
  const EngineAllocations& allocations() const { return allocations_; }

 private:
  EngineState state() const { return {graph_, limits_, places_, allocations_}; }

  EngineLimits limits_;
  SwitchGraph graph_;
  std::vector<bool> places_;
  EngineAllocations allocations_;
  std::map<std::uint32_t, std::vector<AllocatedTree>> jobs_;
};

/// The tree of low latency that a manager builds for one job alone, whose rank r is on `endpoints[r]`: each rank hangs
/// on the first switch with an engine on its way to the top; see build_tree(). Switches on the way that would only pass
/// on have no node. Links that are down carry nothing.
///
/// Throws SimulationError with the code and words of a TreeRefusal, and as the manager does.
PlacedTree build_aggregation_tree(const Fabric& fabric, std::span<const VertexId> endpoints,
                                  const EngineLimits& limits = {}, std::optional<std::uint8_t> network = std::nullopt);

/// Grants trees to jobs that come one after the other and keep them. Where engines are exclusive, who comes too late
/// gets none. Else jobs take turns: who finds no room is granted trees as if those before it were gone, and has to wait
/// until they are.
class TreeAdmission {
 public:
  /// Borrows the fabric; throws as AggregationManager does.
  TreeAdmission(const Fabric& fabric, EngineLimits limits, std::optional<std::uint8_t> network, bool exclusive);

  /// What grant() would give. Requires, as that does, that the job holds nothing.
  TreeGrant try_grant(const TreeRequest& request);
  TreeGrant grant(const TreeRequest& request);

  /// The jobs that have to end before this one may begin, ascending; none where it holds nothing.
  std::vector<std::uint32_t> before(std::uint32_t job) const;

 private:
  AggregationManager& round(std::size_t number);
  bool overtakes(std::size_t number, std::uint32_t job) const;
  bool conflict(const std::vector<AllocatedTree>& a, const std::vector<AllocatedTree>& b) const;

  const Fabric& fabric_;
  EngineLimits limits_;
  std::optional<std::uint8_t> network_;
  bool exclusive_;
  std::vector<std::unique_ptr<AggregationManager>> rounds_;
  std::map<std::uint32_t, std::size_t> round_of_;  ///< by job that holds trees
};

}  // namespace athanor
