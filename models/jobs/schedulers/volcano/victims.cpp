#include "models/jobs/schedulers/volcano/victims.hpp"

#include <algorithm>
#include <set>

#include "models/jobs/schedulers/volcano/one_task.hpp"
#include "models/jobs/task_count.hpp"

namespace athanor {

VolcanoVictims::VolcanoVictims(const VolcanoSettings& settings, const RevocableZones& zones, const VolcanoJobs& jobs,
                               VolcanoQueues& queues, const Amounts& total, ClusterState& state)
    : settings_(settings),
      zones_(zones),
      jobs_(jobs),
      queues_(queues),
      total_(total),
      state_(state),
      on_node_(state.inventory().nodes().count()) {
  for (const RunningJob& running : state.running()) {
    if (jobs_[running.job].is_settled) { continue; }  // it has begun in this session
    const Shape& shape = state.jobs().shape(running.job);
    for (const NodeShare& share : running.where) {
      NodeShare left = share;
      for (std::uint32_t task = 0; task < share.tasks; ++task) {
        const NodeShare one = one_task(left, shape[share.group].each);
        left.gpus = left.gpus - one.gpus;
        left.nics = left.nics - one.nics;
        on_node_[share.node].push_back({running.job, one});
      }
    }
  }
}

VolcanoVictims::Room VolcanoVictims::make_room(JobId job, const Shape& needed, Eviction eviction,
                                               VolcanoSession& session, bool keeps_part) {
  Inventory& future = session.future();
  steps_.clear();
  bool all = true;
  for (const TaskGroup& group : needed) {
    if (asks_for_nothing(group.each)) { continue; }
    order_ = session.by_score(group.each, state_.job(job).preemptible);
    for (std::uint32_t task = 0; task < group.tasks && all; ++task) {
      all = place_task(job, group.each, eviction, future);
    }
  }
  if (!all && !keeps_part) {
    undo(0, jobs_[job].queue, future);
    return {};
  }
  Room room{all, {}};
  for (const Step& step : steps_) {
    if (step.task != nullptr) {
      evicted_[step.task->job].push_back(step.share);
    } else {
      room.placed += amounts_of(step.demand, 1);
    }
  }
  steps_.clear();
  return room;
}

bool VolcanoVictims::place_task(JobId job, const Demand& demand, Eviction eviction, Inventory& future) {
  return std::any_of(order_.begin(), order_.end(),
                     [&](NodeId node) { return make_room_on(node, job, demand, eviction, future); });
}

bool VolcanoVictims::make_room_on(NodeId node, JobId job, const Demand& demand, Eviction eviction, Inventory& future) {
  const std::size_t before = steps_.size();
  if (!fits(node, job, demand, eviction, future)) {
    Tasks victims = chosen(job, demand, candidates(node, job, eviction), eviction);
    std::stable_sort(victims.begin(), victims.end(),
                     [&](const RunningTask* a, const RunningTask* b) { return leaves_before(*a, *b); });
    for (RunningTask* victim : victims) {
      if (fits(node, job, demand, eviction, future)) { break; }
      evict(*victim, future);
    }
    if (!fits(node, job, demand, eviction, future)) {
      undo(before, jobs_[job].queue, future);
      return false;
    }
  }
  steps_.push_back({future.share(node, 0, demand, 1), demand, nullptr});
  future.take(steps_.back().share, demand);
  queues_.allocate(jobs_[job].queue, amounts_of(demand, 1));
  return true;
}

bool VolcanoVictims::fits(NodeId node, JobId job, const Demand& demand, Eviction eviction,
                          const Inventory& future) const {
  const Amounts more = amounts_of(demand, 1);
  const std::size_t queue = jobs_[job].queue;
  const bool allowed =
      eviction == Eviction::preempt ? queues_.is_allocatable(queue, more) : queues_.may_reclaim(queue, more);
  return allowed && future.room(node, demand) > 0;
}

VolcanoVictims::Tasks VolcanoVictims::candidates(NodeId node, JobId job, Eviction eviction) {
  Tasks found;
  for (RunningTask& task : on_node_[node]) {
    if (task.evicted || task.job == job || asks_for_nothing(demand_of(task))) { continue; }
    const std::size_t queue = jobs_[task.job].queue;
    const bool same = queue == jobs_[job].queue;
    if (eviction == Eviction::preempt ? same : !same && queues_.is_reclaimable(queue)) { found.push_back(&task); }
  }
  return found;
}

/// A tier one of whose plugins allows nobody leaves the choice to the next.
VolcanoVictims::Tasks VolcanoVictims::chosen(JobId job, const Demand& demand, const Tasks& candidates,
                                             Eviction eviction) const {
  if (candidates.empty()) { return {}; }
  for (const VolcanoTier& tier : settings_.tiers) {
    std::optional<Tasks> agreed;
    for (const VolcanoPluginUse& use : tier) {
      auto allowed = opinion(use, job, demand, candidates, eviction);
      if (!allowed) { continue; }
      if (agreed) {
        std::erase_if(*allowed, [&](const RunningTask* task) {
          return std::find(agreed->begin(), agreed->end(), task) == agreed->end();
        });
      }
      agreed = std::move(allowed);
      if (agreed->empty()) { break; }
    }
    if (agreed && !agreed->empty()) { return *agreed; }
  }
  return {};
}

std::optional<VolcanoVictims::Tasks> VolcanoVictims::opinion(const VolcanoPluginUse& use, JobId job,
                                                             const Demand& demand, const Tasks& candidates,
                                                             Eviction eviction) const {
  const bool preempts = eviction == Eviction::preempt;
  if (preempts ? !use.preemptable : !use.reclaimable) { return {}; }
  switch (use.plugin) {
    case VolcanoPlugin::gang: return beyond_gangs(candidates);
    case VolcanoPlugin::priority: {
      if (!preempts) { return {}; }
      Tasks lower = candidates;
      std::erase_if(
          lower, [&](const RunningTask* task) { return state_.job(task->job).priority >= state_.job(job).priority; });
      return lower;
    }
    case VolcanoPlugin::drf:
      if (!preempts) { return {}; }
      return allowed_by_drf(job, demand, candidates);
    case VolcanoPlugin::tdm: return preempts ? std::optional(allowed_by_tdm(job, candidates)) : std::nullopt;
    case VolcanoPlugin::proportion:
    case VolcanoPlugin::capacity:
      if (preempts) { return {}; }
      return allowed_by_queues(candidates);
    default: return {};
  }
}

/// Tasks that their jobs do not need.
VolcanoVictims::Tasks VolcanoVictims::beyond_gangs(const Tasks& candidates) const {
  std::map<JobId, std::uint32_t> left;
  Tasks allowed;
  for (RunningTask* task : candidates) {
    const auto at = left.try_emplace(task->job, tasks_of(task->job)).first;
    if (at->second <= jobs_[task->job].needed) { continue; }
    --at->second;
    allowed.push_back(task);
  }
  return allowed;
}

/// Tasks of jobs that still have at least the dominant share that the other one then has.
VolcanoVictims::Tasks VolcanoVictims::allowed_by_drf(JobId job, const Demand& demand, const Tasks& candidates) const {
  constexpr double kLittle = 1e-6;
  Amounts own = amounts_of(demand, 1);
  for (const Step& step : steps_) {
    if (step.task == nullptr) { own += amounts_of(step.demand, 1); }
  }
  if (state_.is_running(job)) { own += allocated(job); }
  const double wants = dominant_share(own, total_);
  std::map<JobId, Amounts> left;
  Tasks allowed;
  for (RunningTask* task : candidates) {
    Amounts& has = left.try_emplace(task->job, allocated(task->job)).first->second;
    has -= amounts(*task);
    if (wants <= dominant_share(has, total_) + kLittle) { allowed.push_back(task); }
  }
  return allowed;
}

/// For jobs that are not preemptible: one task of each preemptible job that is on a node of no zone.
VolcanoVictims::Tasks VolcanoVictims::allowed_by_tdm(JobId job, const Tasks& candidates) const {
  Tasks allowed;
  if (state_.job(job).preemptible) { return allowed; }
  std::set<JobId> asked;
  for (RunningTask* task : candidates) {
    const bool may_lose = state_.job(task->job).preemptible && !zones_.is_revocable(task->share.node);
    if (may_lose && asked.insert(task->job).second) { allowed.push_back(task); }
  }
  return allowed;
}

VolcanoVictims::Tasks VolcanoVictims::allowed_by_queues(const Tasks& candidates) const {
  std::map<std::size_t, Amounts> left;
  Tasks allowed;
  Tasks order = candidates;
  std::stable_sort(order.begin(), order.end(),
                   [&](const RunningTask* a, const RunningTask* b) { return leaves_before(*a, *b); });
  for (RunningTask* task : order) {
    const std::size_t queue = jobs_[task->job].queue;
    Amounts& has = left.try_emplace(queue, queues_.allocated(queue)).first->second;
    if (!queues_.may_lose(queue, has, amounts(*task))) { continue; }
    has -= amounts(*task);
    allowed.push_back(task);
  }
  return allowed;
}

void VolcanoVictims::evict(RunningTask& task, Inventory& future) {
  task.evicted = true;
  future.give_back(task.share, demand_of(task));
  queues_.release(jobs_[task.job].queue, amounts(task));
  steps_.push_back({task.share, demand_of(task), &task});
}

void VolcanoVictims::undo(std::size_t steps, std::size_t queue, Inventory& future) {
  while (steps_.size() > steps) {
    const Step step = steps_.back();
    steps_.pop_back();
    if (step.task == nullptr) {
      future.give_back(step.share, step.demand);
      queues_.release(queue, amounts_of(step.demand, 1));
      continue;
    }
    step.task->evicted = false;
    future.take(step.share, step.demand);
    queues_.allocate(jobs_[step.task->job].queue, amounts(*step.task));
  }
}

const Demand& VolcanoVictims::demand_of(const RunningTask& task) const {
  return state_.jobs().shape(task.job)[task.share.group].each;
}

std::uint32_t VolcanoVictims::tasks_of(JobId job) const {
  std::uint32_t sum = athanor::tasks_of(state_.running(job).where);
  const auto gone = evicted_.find(job);
  if (gone != evicted_.end()) { sum -= static_cast<std::uint32_t>(gone->second.size()); }
  for (const Step& step : steps_) { sum -= step.task != nullptr && step.task->job == job ? 1 : 0; }
  return sum;
}

Amounts VolcanoVictims::allocated(JobId job) const {
  Amounts sum = amounts_of(state_.running(job).where, state_.jobs().shape(job));
  const auto gone = evicted_.find(job);
  if (gone != evicted_.end()) { sum -= amounts_of(gone->second, state_.jobs().shape(job)); }
  for (const Step& step : steps_) {
    if (step.task != nullptr && step.task->job == job) { sum -= amounts(*step.task); }
  }
  return sum;
}

/// The last in the order of jobs first: of other queues with the larger share, of lower priority, with the larger
/// dominant share, later.
bool VolcanoVictims::leaves_before(const RunningTask& a, const RunningTask& b) const {
  const std::size_t first = jobs_[a.job].queue;
  const std::size_t second = jobs_[b.job].queue;
  if (first != second) { return queues_.is_before(second, first); }
  if (a.job == b.job) { return false; }
  for (const VolcanoTier& tier : settings_.tiers) {
    for (const VolcanoPluginUse& use : tier) {
      const bool stays = state_.job(b.job).preemptible;
      if (use.plugin == VolcanoPlugin::tdm && state_.job(a.job).preemptible != stays) { return !stays; }
      const std::int32_t low = state_.job(a.job).priority;
      const std::int32_t high = state_.job(b.job).priority;
      if (use.plugin == VolcanoPlugin::priority && low != high) { return low < high; }
      if (use.plugin != VolcanoPlugin::drf) { continue; }
      const double more = dominant_share(allocated(a.job), total_);
      const double less = dominant_share(allocated(b.job), total_);
      if (more != less) { return more > less; }
    }
  }
  return jobs_[a.job].rank > jobs_[b.job].rank;
}

}  // namespace athanor
