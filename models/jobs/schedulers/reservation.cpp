#include "models/jobs/schedulers/reservation.hpp"

#include <algorithm>

namespace athanor {

namespace {

/// Of a job that should have ended already: at once.
WallTime expected_end(const RunningJob& running, WallTime now) { return std::max(running.expected, now); }

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
  part.cpu_milli = std::min(demand.cpu_milli * share.tasks, inventory.free_cpu_milli(share.node));
  part.memory_mib = std::min(demand.memory_mib * share.tasks, inventory.free_memory_mib(share.node));
  return {held, part};
}

}  // namespace

Reservation Reservation::of(JobId job, ClusterState& state) {
  std::vector<const RunningJob*> by_end;
  for (const RunningJob& running : state.running()) { by_end.push_back(&running); }
  std::sort(by_end.begin(), by_end.end(), [](const RunningJob* a, const RunningJob* b) {
    return a->expected != b->expected ? a->expected < b->expected : a->job < b->job;
  });
  const Shape& shape = state.jobs().shape(job);
  const std::uint64_t needed = gpu_milli_of(shape) / Inventory::kWhole;
  Inventory later = state.inventory();
  for (std::size_t next = 0; next < by_end.size();) {
    const WallTime end = expected_end(*by_end[next], state.now());
    if (end == WallTime::max()) { break; }
    for (; next < by_end.size() && expected_end(*by_end[next], state.now()) == end; ++next) {
      later.give_back(by_end[next]->where, state.jobs().shape(by_end[next]->job));
    }
    if (later.free_gpus() < needed) { continue; }
    if (auto where = state.placement().place(shape, later)) { return {job, end, std::move(*where)}; }
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
