// What a session of Volcano does.

#include <algorithm>

#include "models/jobs/later.hpp"
#include "models/jobs/schedulers/volcano/scheduler.hpp"
#include "models/jobs/task_count.hpp"

namespace athanor {

namespace {

/// What is left without tasks, each of which is one of these shares.
Allocation without(const Allocation& tasks, Allocation where) {
  for (const NodeShare& gone : tasks) {
    const auto at = std::find_if(where.begin(), where.end(), [&](const NodeShare& share) {
      return share.tasks > 0 && share.node == gone.node && share.group == gone.group &&
             (gone.gpus - share.gpus).empty() && (gone.nics - share.nics).empty();
    });
    --at->tasks;
    at->gpus = at->gpus - gone.gpus;
    at->nics = at->nics - gone.nics;
  }
  std::erase_if(where, [](const NodeShare& share) { return share.tasks == 0; });
  return where;
}

}  // namespace

void VolcanoScheduler::enqueue_all(const ClusterState& state) {
  for (const std::size_t queue : queues_.in_order()) {
    std::vector<JobId> let_in_now;
    pending_[queue].visit([&](Turn turn) {
      if (!votes_to_let_in(turn.job, state)) {
        return alike_differ_ ? WaitingList::Next::job : WaitingList::Next::no_such;
      }
      let_in_now.push_back(turn.job);
      let_in(turn.job);
      return WaitingList::Next::job;
    });
    for (const JobId job : let_in_now) {
      pending_[queue].remove(jobs_.turn(job), list_.jobs[job].shape);
      jobs_[job].is_new = true;
      new_jobs_.push_back(job);
    }
  }
}

/// The first tier one of whose plugins agrees decides; any that rejects before does.
bool VolcanoScheduler::votes_to_let_in(JobId job, const ClusterState& state) const {
  if (jobs_[job].is_best_effort) { return true; }
  const Amounts request = jobs_.request(job);
  for (const VolcanoTier& tier : settings_.tiers) {
    bool agreed = false;
    for (const VolcanoPluginUse& use : tier) {
      int vote = 0;
      switch (use.plugin) {
        case VolcanoPlugin::overcommit: vote = vote_of_overcommit(use, request); break;
        case VolcanoPlugin::proportion:
        case VolcanoPlugin::capacity: vote = queues_.vote_to_let_in(jobs_[job].queue, request); break;
        case VolcanoPlugin::sla: vote = is_overdue(job, state) ? 1 : 0; break;
        default: break;
      }
      if (vote < 0) { return false; }
      agreed = agreed || vote > 0;
    }
    if (agreed) { return true; }
  }
  return true;
}

int VolcanoScheduler::vote_of_overcommit(const VolcanoPluginUse& use, const Amounts& request) const {
  const Amounts used = queues_.allocated() + held_;
  const Amounts wanted = queues_.inqueue() + request;
  for (std::size_t kind = 0; kind < Amounts::kKinds; ++kind) {
    if (request.of[kind] == 0 || total_.of[kind] == Amounts::kUnlimited) { continue; }
    const double most = static_cast<double>(total_.of[kind]) * to_double(use.factor);
    if (static_cast<double>(wanted.of[kind] + used.of[kind]) > most) { return -1; }
  }
  return 1;
}

std::vector<VolcanoScheduler::Walk> VolcanoScheduler::walks() const {
  std::vector<Walk> walks;
  for (std::size_t queue = 0; queue < queues_.count(); ++queue) {
    std::vector<JobId> incomplete = incomplete_in(queue);
    if (inqueue_[queue].empty() && incomplete.empty()) { continue; }
    std::reverse(incomplete.begin(), incomplete.end());
    walks.push_back({queue, WaitingList::Walk(inqueue_[queue]), {}, std::move(incomplete)});
  }
  return walks;
}

void VolcanoScheduler::allocate_all(ClusterState& state) {
  std::vector<Walk> left = walks();
  std::vector<JobId> started;
  while (!left.empty()) {
    std::erase_if(left, [&](const Walk& walk) { return queues_.is_overused(walk.queue); });
    const auto at = std::min_element(left.begin(), left.end(),
                                     [&](const Walk& a, const Walk& b) { return queues_.is_before(a.queue, b.queue); });
    if (at == left.end()) { break; }
    if (!at->next) { at->next = at->waiting.next(); }
    if (const auto job = take_incomplete(*at)) {
      complete(*job, state);
      continue;
    }
    const auto turn = std::exchange(at->next, std::nullopt);
    if (!turn) {
      left.erase(at);
      continue;
    }
    const VolcanoJob& known = jobs_[turn->job];
    const bool skipped = known.is_new || known.is_best_effort;
    if (!skipped && allocate(turn->job, state)) { started.push_back(turn->job); }
    const bool tried_in_vain = !skipped && known.phase == Phase::inqueue && !known.is_settled;
    at->waiting.go_on(tried_in_vain && !alike_differ_ ? WaitingList::Next::no_such : WaitingList::Next::job);
  }
  for (const JobId job : started) {
    inqueue_[jobs_[job].queue].remove(jobs_.turn(job), list_.jobs[job].shape);
    --waiting_;
  }
  grow_all(state);
}

/// True: it has begun. A job whose tasks have places, some of them on what is being released, is settled.
bool VolcanoScheduler::allocate(JobId job, ClusterState& state) {
  VolcanoJob& known = jobs_[job];
  const bool keeps = keeps_overdue_ && is_overdue(job, state);
  const Amounts request = jobs_.request(job);
  const bool allowed = queues_.is_allocatable(known.queue, request);
  if (!allowed && !keeps) { return false; }
  TasksPlaced placed =
      session_->place(allowed ? jobs_.needed_shape(job) : allowed_part(job), list_.jobs[job].preemptible, !keeps);
  if (placed.tasks == known.needed && placed.pipelined == 0) {
    queues_.leave(known.queue, request);
    if (known.most == known.needed) {
      start(job, std::move(placed.on_free), state);
    } else {
      queues_.allocate(known.queue, request);
      starting_[job] = std::move(placed.on_free);
    }
    return true;
  }
  if (placed.tasks == 0) { return false; }
  known.is_settled = placed.tasks == known.needed;
  if (known.is_settled) { settled_.push_back(job); }
  const Shape& shape = jobs_.needed_shape(job);
  pipelined_.emplace_back(known.queue, amounts_of(session_->has_future() ? placed.in_future : placed.on_free, shape));
  queues_.allocate(known.queue, pipelined_.back().second);
  kept_.emplace_back(job, std::move(placed));
  return false;
}

/// The first tasks that its queue may have.
Shape VolcanoScheduler::allowed_part(JobId job) const {
  Shape part = jobs_.needed_shape(job);
  Amounts sum;
  for (TaskGroup& group : part) {
    const Amounts one = amounts_of(group.each, 1);
    std::uint32_t tasks = 0;
    for (; tasks < group.tasks && queues_.is_allocatable(jobs_[job].queue, sum + one); ++tasks) { sum += one; }
    group.tasks = tasks;
  }
  return part;
}

/// Jobs that ask for nothing, and those alone.
void VolcanoScheduler::backfill_all(ClusterState& state) {
  for (WaitingList& list : inqueue_) {
    std::vector<JobId> started;
    list.visit([&](Turn turn) {
      const VolcanoJob& known = jobs_[turn.job];
      if (!known.is_best_effort) { return WaitingList::Next::no_such; }
      if (known.is_new) { return WaitingList::Next::job; }
      TasksPlaced placed = session_->place(list_.shape(turn.job), list_.jobs[turn.job].preemptible, true);
      if (placed.tasks < known.needed) { return WaitingList::Next::no_such; }
      start(turn.job, std::move(placed.on_free), state);
      started.push_back(turn.job);
      return WaitingList::Next::job;
    });
    for (const JobId job : started) {
      list.remove(jobs_.turn(job), list_.jobs[job].shape);
      --waiting_;
    }
  }
}

bool VolcanoScheduler::may_evict(JobId job, Eviction eviction, const ClusterState& state) const {
  const VolcanoJob& known = jobs_[job];
  if (known.is_new || known.is_settled || known.is_best_effort) { return false; }
  if (eviction == Eviction::reclaim) { return queues_.may_reclaim(known.queue, request_of(job, state)); }
  if (list_.jobs[job].preemptible && settings_.spares_by_tdm()) { return false; }
  const auto has_a_say = [&](VolcanoPlugin plugin) {
    const auto* use = settings_.use_of(plugin);
    return use != nullptr && use->preemptable;
  };
  const auto& by_priority = running_by_priority_[known.queue];
  const bool others_judge =
      has_a_say(VolcanoPlugin::drf) || has_a_say(VolcanoPlugin::gang) || has_a_say(VolcanoPlugin::tdm);
  return !by_priority.empty() && (others_judge || by_priority.begin()->first < state.job(job).priority);
}

void VolcanoScheduler::evict_for_all(Eviction eviction, ClusterState& state) {
  std::optional<VolcanoVictims> victims;
  for (const std::size_t queue : queues_.in_order()) {
    const auto look_at = [&](JobId job) {
      if (!may_evict(job, eviction, state)) { return; }
      if (!victims) { victims.emplace(settings_, zones_, jobs_, queues_, total_, state); }
      const bool keeps = keeps_overdue_ && is_overdue(job, state);
      const Shape needed = incomplete_.contains(job) ? missing_of(job, state).shape : jobs_.needed_shape(job);
      const auto room = victims->make_room(job, needed, eviction, *session_, keeps);
      pipelined_.emplace_back(queue, room.placed);
      if (!room.for_all) { return; }
      jobs_[job].is_settled = true;
      settled_.push_back(job);
    };
    const std::vector<JobId> incomplete = incomplete_in(queue);
    auto next = incomplete.begin();
    inqueue_[queue].visit([&](Turn turn) {
      for (; next != incomplete.end() && is_before(*next, turn.job); ++next) { look_at(*next); }
      look_at(turn.job);
      return WaitingList::Next::job;
    });
    std::for_each(next, incomplete.end(), look_at);
  }
  if (!victims) { return; }
  for (const auto& [job, tasks] : victims->take_evicted()) { evict(job, tasks, state); }
}

/// A job that is left with fewer tasks than it needs, or has failed, loses all.
void VolcanoScheduler::evict(JobId job, const Allocation& tasks, ClusterState& state) {
  const Shape& shape = state.jobs().shape(job);
  Allocation stays = without(tasks, state.running(job).where);
  const bool goes_on = tasks_of(stays) >= jobs_[job].needed && !state.running(job).stalled;
  Allocation released = goes_on ? tasks : state.running(job).where;
  queues_.allocate(jobs_[job].queue, amounts_of(tasks, shape));  // as it was before it lost any
  state.stop(job);
  leave_nodes(job);
  state.inventory().take(released, shape);
  held_ += amounts_of(released, shape);
  const WallTime until = later(state.now(), std::max(settings_.grace_period, WallTime{1}));
  holdings_.push_back({std::move(released), state.job(job).shape, until});
  if (!goes_on) { return; }
  state.inventory().take(stays, shape);
  start(job, std::move(stays), state);
}

}  // namespace athanor
