#include "models/jobs/schedulers/gpu_count.hpp"

#include <algorithm>

namespace athanor {

GpuCount GpuCount::of_free(const ClusterState& state) {
  const Inventory& inventory = state.inventory();
  const NodeList& nodes = inventory.nodes();
  GpuCount count;
  count.milli_.resize(std::max<std::size_t>(nodes.gpu_types.size(), 1));
  if (count.milli_.size() == 1) {
    count.milli_.front() = std::uint64_t{inventory.free_gpus()} * Inventory::kWhole;
  } else {
    for (const NodeId node : nodes.nodes.ids()) {
      if (!inventory.is_open(node)) { continue; }
      count.milli_[nodes.nodes[node].gpu_type] += std::uint64_t{inventory.free_gpus(node).count()} * Inventory::kWhole;
    }
  }
  return count;
}

void GpuCount::give(const RunningJob& running, const ClusterState& state) {
  const NodeList& nodes = state.inventory().nodes();
  const Shape& shape = state.jobs().shape(running.job);
  for (const NodeShare& share : running.where) {
    const Demand& each = shape[share.group].each;
    milli_[nodes.nodes[share.node].gpu_type] +=
        share.tasks * (std::uint64_t{each.gpus} * Inventory::kWhole + each.gpu_milli);
  }
}

bool GpuCount::take(const Shape& shape, const Inventory& inventory) {
  const std::vector<std::uint64_t> before = milli_;
  for (const TaskGroup& group : shape) {
    std::uint64_t left =
        std::uint64_t{group.tasks} * (std::uint64_t{group.each.gpus} * Inventory::kWhole + group.each.gpu_milli);
    for (const std::uint16_t type : inventory.types(group.each.gpu_types)) {
      const std::uint64_t taken = std::min(left, milli_[type]);
      milli_[type] -= taken;
      left -= taken;
    }
    if (left == 0) { continue; }
    milli_ = before;
    return false;
  }
  return true;
}

}  // namespace athanor
