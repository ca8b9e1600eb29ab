#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/jobs/gpu_set.hpp"
#include "models/jobs/job.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/node_set.hpp"

namespace athanor {

/// Tasks of one group of a shape on one node.
struct NodeShare {
  NodeId node;
  std::uint32_t group = 0;
  std::uint32_t tasks = 0;
  GpuSet gpus;  ///< all of them theirs; of a task that shares one: that one, and a share has a single task
  std::uint8_t first_eighth = 0;  ///< of that GPU, of a slice
  NicSet nics = {};               ///< that they have to themselves
};

/// Where the tasks of a job are.
using Allocation = std::vector<NodeShare>;

/// What is free on the nodes of a cluster, and which nodes have how much.
class Inventory {
 public:
  static constexpr std::uint16_t kWhole = 1000;  ///< thousandths of a GPU

  /// Everything is free. `jobs`: whose sets of GPU types demands name; both are borrowed.
  Inventory(const NodeList& nodes, const JobList& jobs);

  const NodeList& nodes() const { return *nodes_; }

  /// GPUs nobody uses, not even in part.
  GpuSet free_gpus(NodeId node) const { return states_[node].free; }
  /// What is left of one GPU, in thousandths.
  std::uint16_t free_milli(NodeId node, std::uint32_t gpu) const { return milli_[states_[node].first_gpu + gpu]; }
  /// NICs that no task has to itself.
  NicSet free_nics(NodeId node) const { return states_[node].nics; }
  std::uint32_t free_cpu_milli(NodeId node) const { return states_[node].cpu_milli; }
  std::uint32_t free_memory_mib(NodeId node) const { return states_[node].memory_mib; }
  /// Does it take tasks?
  bool is_open(NodeId node) const { return states_[node].open; }
  /// Tasks that a node has.
  std::uint32_t tasks(NodeId node) const { return states_[node].tasks; }
  /// Does the node have one of these GPUs?
  bool has_type(NodeId node, GpuTypesId types) const;
  /// The types of these sets, by their indices in the list of nodes.
  std::span<const std::uint16_t> types(GpuTypesId types) const { return types_[types]; }
  /// The types of a set that are among these, too; a set that nobody has named yet is remembered.
  GpuTypesId common_types(GpuTypesId types, const std::vector<std::string>& others);
  /// Wholly free GPUs of all open nodes.
  std::uint32_t free_gpus() const { return free_gpus_; }

  /// How many such tasks a node takes now.
  std::uint32_t room(NodeId node, const Demand& demand) const;
  /// The lowest open node from `from` on that has exactly so many wholly free GPUs of this type.
  std::optional<NodeId> next(std::uint16_t type, std::uint32_t free, NodeId from = {}) const;
  /// The most GPUs of a node of this type.
  std::uint32_t most_gpus(std::uint16_t type) const { return static_cast<std::uint32_t>(by_free_[type].size()) - 1; }

  /// Tasks on a node with the lowest of its free GPUs and NICs; a task that shares one gets the fullest on which it
  /// fits, the lowest of those, and a slice where it leaves the most places. Requires room for them, and one task of
  /// those that share.
  NodeShare share(NodeId node, std::uint32_t group, const Demand& demand, std::uint32_t tasks) const;
  /// Does the node have all of it, these GPUs and this place for a slice?
  bool has(const NodeShare& share, const Demand& demand) const;
  /// Requires that it has().
  void take(const NodeShare& share, const Demand& demand);
  void take(const Allocation& allocation, const Shape& shape);
  void give_back(const NodeShare& share, const Demand& demand);
  void give_back(const Allocation& allocation, const Shape& shape);

  /// A closed node keeps its tasks and gets no others: it is down, drained or cordoned.
  void close(NodeId node);
  void open(NodeId node);

 private:
  struct State {
    GpuSet free;
    std::uint32_t first_gpu = 0;  ///< of milli_
    std::uint32_t cpu_milli = 0;
    std::uint32_t memory_mib = 0;
    std::uint32_t tasks = 0;
    NicSet nics;
    bool open = true;
  };
  std::uint32_t room_on(NodeId node, std::uint32_t gpu, const Demand& demand) const;
  void set_free(NodeId node, GpuSet free);

  const NodeList* nodes_;
  IdVector<NodeId, State> states_;
  std::vector<std::uint16_t> milli_;
  std::vector<std::uint8_t> sliced_;           ///< eighths of each GPU that slices have, a bit each
  std::vector<std::vector<NodeSet>> by_free_;  ///< open nodes by type and number of wholly free GPUs
  IdVector<GpuTypesId, std::vector<std::uint16_t>> types_;
  std::uint32_t free_gpus_ = 0;
};

}  // namespace athanor
