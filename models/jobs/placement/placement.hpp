#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "models/jobs/inventory.hpp"

namespace athanor {

class Fields;

/// Which nodes and GPUs the tasks of a job get. Each is a file of its own in this folder, which holds its keys, what it
/// does and its words, and a line in catalog.cpp.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  /// Takes what all tasks need and says where; none: they do not fit now, and nothing has been taken.
  virtual std::optional<Allocation> place(const Shape& shape, Inventory& inventory) = 0;
  /// Does it matter to it which whole GPUs of a node a task has?
  virtual bool minds_gpus() const { return false; }
  /// A job has begun where place() said, or anybody else; one that place() was asked for need not begin.
  virtual void started(const Shape& /*shape*/, const Allocation& /*where*/) {}
  /// A job that had begun has left.
  virtual void stopped(const Shape& /*shape*/, const Allocation& /*where*/) {}
};

/// Takes so many tasks of a group on a node, and adds where. Requires room for them.
void take_tasks(NodeId node, std::uint32_t group, const Demand& demand, std::uint32_t tasks, Inventory& inventory,
                Allocation& allocation);

/// A policy that places one group of tasks after the other.
class GroupPlacement : public PlacementPolicy {
 public:
  std::optional<Allocation> place(const Shape& shape, Inventory& inventory) final;

 protected:
  /// Takes what the group needs, and adds where. False: it does not fit; what has been added is given back.
  virtual bool place_group(std::uint32_t group, const TaskGroup& tasks, Inventory& inventory,
                           Allocation& allocation) = 0;
  static void take(NodeId node, std::uint32_t group, const Demand& demand, std::uint32_t tasks, Inventory& inventory,
                   Allocation& allocation) {
    take_tasks(node, group, demand, tasks, inventory, allocation);
  }
};

/// A policy as a scenario describes it.
class PlacementKind {
 public:
  virtual ~PlacementKind() = default;
  /// Declares the keys of its object.
  virtual void visit(Fields& /*fields*/) {}
  /// `seed`: of what it draws.
  virtual std::unique_ptr<PlacementPolicy> make(const NodeList& nodes, const JobList& jobs,
                                                std::uint64_t seed) const = 0;
};

/// A policy in the catalog.
struct PlacementEntry {
  std::string_view name;
  std::string_view meaning;                            ///< one line
  std::shared_ptr<PlacementKind> (*make)() = nullptr;  ///< with the defaults of all its keys
};

/// In the order of lists.
const std::vector<PlacementEntry>& placements();

}  // namespace athanor
