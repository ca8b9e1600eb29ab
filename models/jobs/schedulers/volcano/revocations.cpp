// What tdm takes back from preemptible jobs when the windows of their nodes have ended.

#include <algorithm>
#include <utility>

#include "models/jobs/later.hpp"
#include "models/jobs/schedulers/volcano/one_task.hpp"
#include "models/jobs/schedulers/volcano/scheduler.hpp"

namespace athanor {

/// The first task of a job on a node whose window has ended.
std::optional<NodeShare> VolcanoScheduler::task_to_revoke(const RunningJob& running, const ClusterState& state) const {
  const bool kept = !list_.jobs[running.job].preemptible || jobs_[running.job].is_settled;
  if (kept) { return {}; }
  for (const NodeShare& share : running.where) {
    if (zones_.is_revocable(share.node) && !zones_.is_open(share.node, state.now())) {
      return one_task(share, list_.shape(running.job)[share.group].each);
    }
  }
  return {};
}

void VolcanoScheduler::revoke(ClusterState& state) {
  if (zones_.is_empty() || state.now() < next_revocation_) { return; }
  std::vector<std::pair<JobId, NodeShare>> tasks;
  for (const RunningJob& running : state.running()) {
    if (const auto task = task_to_revoke(running, state)) { tasks.emplace_back(running.job, *task); }
  }
  for (const auto& [job, task] : tasks) { evict(job, {task}, state); }
  next_revocation_ =
      tasks.empty() ? WallTime{} : later(state.now(), settings_.use_of(VolcanoPlugin::tdm)->zones.evict_period);
}

/// Windows that open and end are reason for a session, as long as sessions at such times do something: after a whole
/// day without, nobody waits for them.
WallTime VolcanoScheduler::next_zone_session(WallTime now) const {
  if (zones_.is_empty()) { return WallTime::max(); }
  const WallTime revocation = next_revocation_ > now ? next_revocation_ : WallTime::max();
  const bool in_vain = idle_zone_sessions_ > zones_.changes_a_day();
  return std::min(revocation, in_vain ? WallTime::max() : zones_.next_change(now));
}

void VolcanoScheduler::count_zone_session(WallTime now) {
  if (zones_.is_empty()) { return; }
  const bool for_zones_alone = settled_.empty() && now >= next_zone_session_;
  idle_zone_sessions_ = for_zones_alone ? idle_zone_sessions_ + 1 : 0;
  next_zone_session_ = next_zone_session(now);
}

}  // namespace athanor
