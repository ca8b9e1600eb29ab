#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/jobs/placement/placement.hpp"

namespace athanor {

/// A node that has room for a task, and what a policy thinks of it.
struct ScoredNode {
  NodeId node;
  int score = 0;
};

/// Which of nodes with equal scores.
enum class Ties : std::uint8_t {
  name,   ///< the one whose name comes first in lexicographic order; without names the lowest
  drawn,  ///< the first in an order of all nodes that the seed draws once
};

/// Settings that all policies with scores have.
struct ScoredSettings {
  Ties ties = Ties::name;
};
void visit(Fields& fields, ScoredSettings& settings);

/// A policy that gives each task, one after the other, the node with the highest score. The scheduling framework of
/// Kubernetes does so, with whole numbers, mostly from 0 to kMostScore.
class ScoredPlacement : public GroupPlacement {
 public:
  static constexpr int kMostScore = 100;

 protected:
  ScoredPlacement(const NodeList& nodes, const ScoredSettings& settings, std::uint64_t seed);

  /// Whether a node that has room for a task may get it.
  virtual bool suits(NodeId /*node*/, const Demand& /*demand*/, const Inventory& /*inventory*/) { return true; }
  /// Scores nodes that each have room for one such task, and suit it.
  virtual void score(const Demand& demand, const Inventory& inventory, std::span<ScoredNode> nodes) = 0;
  /// The GPU that a task gets which shares one, but for slices; as it is here, the fullest on which it fits, the lowest
  /// of those.
  virtual std::uint32_t shared_gpu(NodeId node, const Demand& demand, const Inventory& inventory);
  /// The GPUs that a task gets which has whole ones; as it is here, the lowest that are free.
  virtual GpuSet whole_gpus(NodeId node, const Demand& demand, const Inventory& inventory);
  /// The NICs that a task has to itself; as it is here, the lowest that are free.
  virtual NicSet nics(NodeId node, const Demand& demand, const Inventory& inventory);
  /// Tasks of another group are placed from now on: what placed() said last is void unless it has been started since.
  virtual void begins() {}
  /// A task will be given this share if all others of its job find a place.
  virtual void placed(const NodeShare& /*share*/, const Demand& /*demand*/) {}

 private:
  bool place_group(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory, Allocation& allocation) final;

  std::vector<NodeId> in_order_;
  std::vector<ScoredNode> candidates_;
};

/// Thousandths of GPUs that are free on a node.
std::uint32_t free_gpu_milli(NodeId node, const Inventory& inventory);
/// Thousandths of GPUs that a task takes.
inline std::uint32_t gpu_milli_of(const Demand& demand) {
  return demand.gpus * std::uint32_t{Inventory::kWhole} + demand.gpu_milli;
}
/// A score of 0 to ScoredPlacement::kMostScore from anything: digits behind the point are dropped.
int score_of(double share);

/// The most that a node of the cluster has; 1 where no node has any, or all have any number.
struct MostOnANode {
  explicit MostOnANode(const NodeList& nodes);
  double cpu_milli = 1;
  double gpu_milli = 1;
};

}  // namespace athanor
