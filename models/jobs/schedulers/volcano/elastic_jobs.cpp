// Elastic jobs that run, or are to begin: what they get beyond what they need.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "models/jobs/schedulers/volcano/scheduler.hpp"
#include "models/jobs/task_count.hpp"

namespace athanor {

std::vector<VolcanoScheduler::Growing> VolcanoScheduler::growing_jobs(const ClusterState& state) const {
  std::vector<Growing> growing;
  const auto add = [&](JobId job, const Allocation& where, bool begins) {
    growing.push_back({job, where, tasks_of(where), amounts_of(where, state.jobs().shape(job)), {}, begins});
  };
  for (const JobId job : elastic_) {
    const bool grows = !jobs_[job].is_settled && !state.running(job).stalled;
    if (grows) { add(job, state.running(job).where, false); }
  }
  for (const auto& [job, where] : starting_) { add(job, where, true); }
  return growing;
}

/// As Volcano allocates to jobs that are ready: one task, then it is the turn of the queue that has the smallest share
/// by then, and of the job in it that comes first; with `drf` that with the smallest share.
void VolcanoScheduler::grow_all(ClusterState& state) {
  using Place = std::tuple<double, std::int64_t, std::size_t>;  // share, rank, index
  std::vector<Growing> growing = growing_jobs(state);
  const bool by_share = settings_.has(VolcanoPlugin::drf);
  const auto place_of = [&](std::size_t index) {
    const Growing& each = growing[index];
    return Place{by_share ? dominant_share(each.had + each.added, total_) : 0, jobs_[each.job].rank, index};
  };
  std::map<std::size_t, std::set<Place>> queues;
  for (std::size_t index = 0; index < growing.size(); ++index) {
    queues[jobs_[growing[index].job].queue].insert(place_of(index));
  }
  while (!queues.empty()) {
    const auto queue = std::min_element(queues.begin(), queues.end(), [&](const auto& a, const auto& b) {
      return queues_.is_before(a.first, b.first);
    });
    const std::size_t index = std::get<2>(*queue->second.begin());
    queue->second.erase(queue->second.begin());
    if (add_task(growing[index])) { queue->second.insert(place_of(index)); }
    if (queue->second.empty()) { queues.erase(queue); }
  }
  for (Growing& each : growing) { settle(each, state); }
  starting_.clear();
}

bool VolcanoScheduler::add_task(Growing& growing) {
  const VolcanoJob& known = jobs_[growing.job];
  const Demand& each = list_.shape(growing.job).front().each;
  const Amounts one = amounts_of(each, 1);
  if (growing.tasks >= known.most || !queues_.is_allocatable(known.queue, one)) { return false; }
  TasksPlaced placed = session_->place({{1, each}}, list_.jobs[growing.job].preemptible, true);
  if (placed.tasks == 0) { return false; }
  if (placed.pipelined > 0) {
    kept_.emplace_back(growing.job, std::move(placed));
    return false;
  }
  growing.where.insert(growing.where.end(), placed.on_free.begin(), placed.on_free.end());
  growing.added += one;
  ++growing.tasks;
  queues_.allocate(known.queue, one);
  return true;
}

void VolcanoScheduler::settle(Growing& growing, ClusterState& state) {
  const JobId job = growing.job;
  const std::size_t queue = jobs_[job].queue;
  queues_.release(queue, growing.added);
  if (growing.begins) {
    queues_.release(queue, growing.had);
  } else {
    if (growing.added == Amounts{}) { return; }
    const Allocation present = state.running(job).where;
    state.stop(job);
    leave_nodes(job);
    state.inventory().take(present, state.jobs().shape(job));
  }
  start(job, std::move(growing.where), state);
}

}  // namespace athanor
