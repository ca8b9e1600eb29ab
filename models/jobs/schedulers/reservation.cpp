#include "models/jobs/schedulers/reservation.hpp"

#include <algorithm>
#include <map>

namespace athanor {

namespace {

/// What is free at present of a share that is taken later.
std::pair<NodeShare, Demand> free_part(const NodeShare& share, const Demand& demand, const Inventory& inventory) {
  NodeShare held{share.node, share.group, 1, {}};
  Demand part;
  if (demand.gpu_milli > 0) {
    const std::uint32_t gpu = share.gpus.least();
    part.gpu_milli = std::min(demand.gpu_milli, inventory.free_milli(share.node, gpu));
    if (part.gpu_milli > 0) { held.gpus.add(gpu); }
  } else {
    held.gpus = share.gpus & inventory.free_gpus(share.node);
  }
  held.nics = share.nics & inventory.free_nics(share.node);
  part.nics = static_cast<std::uint16_t>(held.nics.count());
  part.cpu_milli = std::min(demand.cpu_milli * share.tasks, inventory.free_cpu_milli(share.node));
  part.memory_mib = std::min(demand.memory_mib * share.tasks, inventory.free_memory_mib(share.node));
  return {held, part};
}

/// Which whole GPUs of a node a job has makes no difference to it: those that get free the latest, so that what is free
/// at present and not needed then is left to others. `later`: what is free then beside them.
void take_latest(Allocation& where, const Inventory& later, const Inventory& present) {
  std::map<NodeId, GpuSet> left;
  for (const NodeShare& share : where) {
    const auto [at, fresh] = left.try_emplace(share.node, later.free_gpus(share.node));
    at->second = at->second | share.gpus;
  }
  for (NodeShare& share : where) {
    GpuSet& gpus = left[share.node];
    const GpuSet free = present.free_gpus(share.node);
    const std::uint32_t count = share.gpus.count();
    const GpuSet late = (gpus - free).lowest(std::min(count, (gpus - free).count()));
    share.gpus = late | (gpus & free).lowest(count - late.count());
    gpus = gpus - share.gpus;
  }
}

bool shares_gpus(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const TaskGroup& group) { return group.each.gpu_milli > 0; });
}

}  // namespace

Reservation Reservation::of(JobId job, ClusterState& state) {
  const Shape& shape = state.jobs().shape(job);
  const std::uint64_t needed = gpu_milli_of(shape) / Inventory::kWhole;
  Inventory later = state.inventory();
  const auto& ends = state.expected_ends();
  for (auto next = ends.begin(); next != ends.end() && next->first != WallTime::max();) {
    const WallTime end = std::max(next->first, state.now());  // of a job that should have ended already: at once
    for (; next != ends.end() && std::max(next->first, state.now()) == end; ++next) {
      later.give_back(state.running(next->second).where, state.jobs().shape(next->second));
    }
    if (later.free_gpus() < needed) { continue; }
    auto where = state.placement().place(shape, later);
    if (!where) { continue; }
    if (!state.placement().minds_gpus() && !shares_gpus(shape)) { take_latest(*where, later, state.inventory()); }
    return {job, end, std::move(*where)};
  }
  return {job, WallTime::max(), {}};
}

Hold::Hold(const Reservation& reservation, ClusterState& state) : inventory_(state.inventory()) {
  const Shape& shape = state.jobs().shape(reservation.job);
  for (const NodeShare& share : reservation.where) {
    held_.push_back(free_part(share, shape[share.group].each, inventory_));
    inventory_.take(held_.back().first, held_.back().second);
  }
}

Hold::~Hold() {
  for (const auto& [share, demand] : held_) { inventory_.give_back(share, demand); }
}

}  // namespace athanor
