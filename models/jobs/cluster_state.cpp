#include "models/jobs/cluster_state.hpp"

#include <algorithm>

#include "models/jobs/later.hpp"
#include "models/jobs/placement/node_search.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

std::uint64_t whole_gpus_of(const Shape& shape) {
  std::uint64_t sum = 0;
  for (const TaskGroup& group : shape) { sum += std::uint64_t{group.tasks} * group.each.gpus; }
  return sum;
}

}  // namespace

std::uint64_t gpu_milli_of(const Allocation& where, const Shape& shape) {
  std::uint64_t sum = 0;
  for (const NodeShare& share : where) {
    const Demand& each = shape[share.group].each;
    sum += std::uint64_t{share.tasks} * (each.gpus * Inventory::kWhole + each.gpu_milli);
  }
  return sum;
}

ClusterState::ClusterState(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement)
    : jobs_(jobs), placement_(placement), inventory_(nodes, jobs), slots_(jobs.size(), kNone) {}

WallTime ClusterState::remaining(JobId job) const {
  const WallTime expected = jobs_.jobs[job].expected;
  if (!work_done_ || expected == WallTime::max()) { return expected; }
  return std::max(expected - work_done_(job), WallTime{});
}

double ClusterState::speed(JobId job, std::uint32_t nodes, std::uint32_t gpus) const {
  if (speed_) { return speed_(job, nodes, gpus); }
  return gpus * static_cast<double>(Inventory::kWhole) / static_cast<double>(gpu_milli_of(jobs_.shape(job)));
}

bool ClusterState::start(JobId job) {
  if (whole_gpus_of(jobs_.shape(job)) > inventory_.free_gpus()) { return false; }
  auto where = placement_.place(jobs_.shape(job), inventory_);
  if (!where) { return false; }
  start(job, std::move(*where));
  return true;
}

bool ClusterState::start_on(JobId job, std::vector<GpuTypesId> types) {
  Shape shape = jobs_.shape(job);
  if (whole_gpus_of(shape) > inventory_.free_gpus()) { return false; }
  for (std::size_t group = 0; group < shape.size(); ++group) { shape[group].each.gpu_types = types[group]; }
  auto where = placement_.place(shape, inventory_);
  if (!where) { return false; }
  start(job, std::move(*where));
  running_.back().types = std::move(types);
  return true;
}

Demand ClusterState::demand_of(const RunningJob& running, std::uint32_t group) const {
  Demand demand = jobs_.shape(running.job)[group].each;
  if (!running.types.empty()) { demand.gpu_types = running.types[group]; }
  return demand;
}

void ClusterState::start(JobId job, Allocation where) {
  require(!is_running(job), "job {} runs already", job.value);
  placement_.started(jobs_.shape(job), where);
  slots_[job] = static_cast<std::uint32_t>(running_.size());
  running_.push_back({job, std::move(where), now_, later(now_, jobs_.jobs[job].expected)});
  expected_ends_.emplace(running_.back().expected, job);
  started_.push_back(job);
  ++changes_;
}

bool ClusterState::replace_closed(JobId job) {
  const Shape& shape = jobs_.shape(job);
  Allocation& where = running_[slots_[job]].where;
  std::vector<std::pair<std::size_t, NodeShare>> replaced;
  placement_.stopped(shape, where);
  for (std::size_t i = 0; i < where.size(); ++i) {
    if (inventory_.is_open(where[i].node)) { continue; }
    const Demand demand = demand_of(running_[slots_[job]], where[i].group);
    const auto node = tightest(inventory_, demand, where[i].tasks);
    if (!node) {
      for (const auto& [index, before] : replaced) {
        inventory_.give_back(where[index], shape[before.group].each);
        inventory_.take(before, shape[before.group].each);
        where[index] = before;
      }
      placement_.started(shape, where);
      return false;
    }
    replaced.emplace_back(i, where[i]);
    inventory_.give_back(where[i], demand);
    where[i] = inventory_.share(*node, where[i].group, demand, where[i].tasks);
    inventory_.take(where[i], demand);
  }
  placement_.started(shape, where);
  ++changes_;
  return true;
}

Allocation ClusterState::drop_closed(JobId job) {
  const Shape& shape = jobs_.shape(job);
  Allocation& where = running_[slots_[job]].where;
  Allocation dropped;
  placement_.stopped(shape, where);
  std::erase_if(where, [&](const NodeShare& share) {
    if (inventory_.is_open(share.node)) { return false; }
    inventory_.give_back(share, shape[share.group].each);
    dropped.push_back(share);
    return true;
  });
  placement_.started(shape, where);
  ++changes_;
  return dropped;
}

void ClusterState::add(JobId job, Allocation more) {
  require(is_running(job), "job {} does not run", job.value);
  const Shape& shape = jobs_.shape(job);
  Allocation& where = running_[slots_[job]].where;
  placement_.stopped(shape, where);
  where.insert(where.end(), more.begin(), more.end());
  placement_.started(shape, where);
  grown_.push_back(job);
  ++changes_;
}

bool ClusterState::drop_closed(JobId job, std::uint32_t least_gpus) {
  const Allocation& where = running_[slots_[job]].where;
  std::uint32_t left = 0;
  for (const NodeShare& share : where) { left += inventory_.is_open(share.node) ? share.gpus.count() : 0; }
  if (left < std::max(1U, least_gpus)) { return false; }
  drop_closed(job);
  return true;
}

bool ClusterState::grow(JobId job) {
  const Shape& shape = jobs_.shape(job);
  const Demand demand = demand_of(running_[slots_[job]], 0);
  Allocation& where = running_[slots_[job]].where;
  std::uint32_t missing = shape.front().tasks;
  for (const NodeShare& share : where) { missing -= std::min(missing, share.tasks); }
  Allocation more;
  for (std::uint32_t tasks = std::min(missing, GpuSet::kMost); tasks > 0 && missing > 0;) {
    const auto node = tightest(inventory_, demand, tasks);
    if (!node) {
      --tasks;
      continue;
    }
    more.push_back(inventory_.share(*node, 0, demand, tasks));
    inventory_.take(more.back(), demand);
    missing -= tasks;
    tasks = std::min(tasks, missing);
  }
  if (more.empty()) { return false; }
  placement_.stopped(shape, where);
  where.insert(where.end(), more.begin(), more.end());
  placement_.started(shape, where);
  ++changes_;
  return true;
}

void ClusterState::stall(JobId job, bool stalled) {
  RunningJob& running = running_[slots_[job]];
  if (running.stalled == stalled) { return; }
  running.stalled = stalled;
  ++changes_;
}

void ClusterState::stop(JobId job) {
  require(is_running(job), "job {} does not run", job.value);
  const std::uint32_t slot = slots_[job];
  if (running_[slot].expected != now_) { surprise(); }
  expected_ends_.erase({running_[slot].expected, job});
  inventory_.give_back(running_[slot].where, jobs_.shape(job));
  placement_.stopped(jobs_.shape(job), running_[slot].where);
  slots_[running_.back().job] = slot;
  slots_[job] = kNone;
  if (slot + 1 != running_.size()) { running_[slot] = std::move(running_.back()); }
  running_.pop_back();
  stopped_.push_back(job);
  ++changes_;
}

}  // namespace athanor
