#include "models/jobs/schedulers/kueue/scheduler.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

std::uint64_t milli_of(const TaskGroup& group) { return gpu_milli_of(Shape{group}); }

double gpus(std::uint64_t milli) { return static_cast<double>(milli) / Inventory::kWhole; }

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

KueueScheduler::KueueScheduler(const std::vector<KueueQueue>& queues, const JobList& jobs, const NodeList& nodes)
    : jobs_(jobs), nodes_(nodes), quotas_(queues), queue_of_(jobs.size()) {
  for (const KueueQueue& queue : queues) { queues_.push_back({queue, {}}); }
  for (const JobId job : jobs.jobs.ids()) {
    const std::string& name = jobs.name(jobs.jobs[job].queue);
    const auto at = std::find_if(queues.begin(), queues.end(), [&](const auto& queue) { return queue.name == name; });
    queue_of_[job] = static_cast<std::size_t>(at - queues.begin());
  }
}

void KueueScheduler::enqueue(JobId job, const ClusterState& state) {
  if (requeued_.erase(job) > 0) { return; }
  if (is_admitted(job)) { release(job); }
  wait(job, state);
}

void KueueScheduler::wait(JobId job, const ClusterState& state) {
  ++waiting_;
  if (!known(job)) { return; }
  queue(job).pending.insert({-std::int64_t{state.job(job).priority}, state.job(job).submitted, job});
}

void KueueScheduler::withdraw(JobId job, const ClusterState& state) {
  --waiting_;
  if (is_admitted(job)) { return release(job); }
  if (known(job)) { queue(job).pending.erase({-std::int64_t{state.job(job).priority}, state.job(job).submitted, job}); }
}

/// Those that lose their quota may find another flavor at once.
void KueueScheduler::schedule(ClusterState& state) {
  admit_all(true, state);
  if (!requeued_.empty()) { admit_all(false, state); }
  for (const Admitted& each : admitted_) {
    if (state.is_running(each.job) || !start(each, state)) { continue; }
    --waiting_;
    requeued_.erase(each.job);
  }
}

/// Groups of a flavor of some types are placed on nodes that have these.
bool KueueScheduler::start(const Admitted& admitted, ClusterState& state) {
  const Shape& shape = jobs_.shape(admitted.job);
  std::vector<GpuTypesId> types;
  for (std::size_t group = 0; group < shape.size(); ++group) {
    types.push_back(shape[group].each.gpu_types);
    const std::optional<Flavor> flavor = admitted.assigned.flavors[group];
    if (!flavor || quotas_.gpu_types(*flavor).empty()) { continue; }
    types.back() = state.inventory().common_types(types.back(), quotas_.gpu_types(*flavor));
  }
  return state.start_on(admitted.job, std::move(types));
}

std::string KueueScheduler::reason(JobId job, const ClusterState& state) const {
  if (!known(job)) { return "is in no queue of cluster_queues, and is never admitted"; }
  if (is_admitted(job)) {
    return fmt::format("is admitted by quota, but fits nowhere: {} GPUs are free, not where it needs them",
                       state.inventory().free_gpus());
  }
  std::vector<std::string> parts;
  for (const Flavor flavor : quotas_.flavors(queue_of_[job])) {
    parts.push_back(fmt::format("{} of {} GPUs", gpus(quotas_.used(queue_of_[job], flavor)),
                                gpus(quotas_.nominal(queue_of_[job], flavor))));
    const std::vector<std::string>& types = quotas_.gpu_types(flavor);
    if (!types.empty()) { parts.back() += fmt::format(" ({})", joined(types, " or ")); }
  }
  return fmt::format("is not admitted: {} of its queue's quota are used, and it asks for {}", enumeration(parts),
                     gpus(gpu_milli_of(jobs_.shape(job))));
}

std::vector<KueueScheduler::Admitted>::const_iterator KueueScheduler::find_admitted(JobId job) const {
  return std::find_if(admitted_.begin(), admitted_.end(), [&](const Admitted& each) { return each.job == job; });
}

void KueueScheduler::release(JobId job) {
  const auto at = find_admitted(job);
  quotas_.give_back(at->queue, at->assigned.amounts);
  admitted_.erase(at);
}

/// Whether nodes that a group may be on have GPUs of a flavor.
bool KueueScheduler::suits(Flavor flavor, const Demand& demand) const {
  const std::vector<std::string>& own = quotas_.gpu_types(flavor);
  const std::vector<std::string>& wanted = jobs_.gpu_types(demand.gpu_types);
  return std::any_of(nodes_.gpu_types.begin(), nodes_.gpu_types.end(), [&](const std::string& type) {
    return (own.empty() || contains(own, type)) && (wanted.empty() || contains(wanted, type));
  });
}

KueueScheduler::Assignment KueueScheduler::assign(JobId job, const ClusterState& state) {
  Assignment assigned;
  for (const TaskGroup& group : jobs_.shape(job)) {
    if (milli_of(group) == 0) {
      assigned.flavors.emplace_back();
    } else if (!assign_group(job, group, state, assigned)) {
      assigned.mode = Mode::none;
      assigned.borrows = true;  // it comes after those that something can be done for
      break;
    }
  }
  return assigned;
}

/// Looks at the flavors of the queue one by one, beside what the groups before have got: the first that takes the group
/// without more ado, or that it may stop at; else the first of the best. False: none takes it.
bool KueueScheduler::assign_group(JobId job, const TaskGroup& group, const ClusterState& state, Assignment& assigned) {
  const std::size_t mine = queue_of_[job];
  const KueueQueue& rules = queues_[mine].rules;
  const bool stops_to_borrow = rules.when_can_borrow == KueueFungibility::stop;
  Mode best = Mode::none;
  Flavor chosen = 0;
  for (const Flavor flavor : quotas_.flavors(mine)) {
    if (!suits(flavor, group.each)) { continue; }
    Amounts wanted{{flavor, milli_of(group)}};
    if (const auto before = assigned.amounts.find(flavor); before != assigned.amounts.end()) {
      wanted[flavor] += before->second;
    }
    const bool borrows = quotas_.would_borrow(mine, wanted);
    const Mode mode = quotas_.fits(mine, wanted) ? Mode::fit : victims(job, wanted, state) ? Mode::preempt : Mode::none;
    if (mode > best) {
      best = mode;
      chosen = flavor;
    }
    const bool content =
        mode == Mode::fit || (mode == Mode::preempt && rules.when_can_preempt == KueueFungibility::stop);
    if (!content || (borrows && !stops_to_borrow)) { continue; }
    best = mode;
    chosen = flavor;
    break;
  }
  if (best == Mode::none) { return false; }
  assigned.mode = std::min(assigned.mode, best);
  assigned.flavors.emplace_back(chosen);
  assigned.amounts[chosen] += milli_of(group);
  assigned.borrows = quotas_.would_borrow(mine, assigned.amounts);
  return true;
}

void KueueScheduler::admit_all(bool preempts, ClusterState& state) {
  std::vector<Head> heads;
  for (const Queue& each : queues_) { heads.push_back({each.pending.begin(), {}}); }
  while (const auto best = best_head(heads, state)) {
    Queue& at = queues_[*best];
    Head& head = heads[*best];
    const JobId job = head.at->job;
    const Assignment assigned = *head.assigned;
    const bool may_be = assigned.mode == Mode::fit || (preempts && assigned.mode == Mode::preempt);
    const auto losers = may_be ? victims(job, assigned.amounts, state) : std::nullopt;
    head.assigned.reset();
    if (!losers) {
      head.at = at.rules.strategy == KueueStrategy::strict_fifo ? at.pending.end() : std::next(head.at);
      continue;
    }
    for (const JobId loser : *losers) { evict(loser, state); }
    head.at = at.pending.erase(head.at);
    quotas_.take(*best, assigned.amounts);
    admitted_.push_back({job, *best, assigned});
    for (Head& other : heads) { other.assigned.reset(); }
  }
}

/// The queue whose head is next: those that need not borrow, then by priority and age; none: no heads are left.
std::optional<std::size_t> KueueScheduler::best_head(std::vector<Head>& heads, const ClusterState& state) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Head& head = heads[i];
    if (head.at == queues_[i].pending.end()) { continue; }
    if (!head.assigned) { head.assigned = assign(head.at->job, state); }
    if (!best ||
        std::pair(head.assigned->borrows, *head.at) < std::pair(heads[*best].assigned->borrows, *heads[*best].at)) {
      best = i;
    }
  }
  return best;
}

bool KueueScheduler::may_preempt(JobId job, const Amounts& wanted, const Admitted& victim,
                                 const ClusterState& state) const {
  const std::size_t mine = queue_of_[job];
  const auto has_of = [&](const auto& each) { return victim.assigned.amounts.contains(each.first); };
  const auto borrows_of = [&](const auto& each) { return has_of(each) && quotas_.borrows(victim.queue, each.first); };
  const bool lower = state.job(victim.job).priority < state.job(job).priority;
  const auto allows = [&](KueuePreempt policy) {
    return policy == KueuePreempt::any || (policy == KueuePreempt::lower_priority && lower);
  };
  const KueueQueue& rules = queues_[mine].rules;
  if (victim.queue == mine) {
    return std::any_of(wanted.begin(), wanted.end(), has_of) && allows(rules.within_cluster_queue);
  }
  return quotas_.same_cohort(mine, victim.queue) && std::any_of(wanted.begin(), wanted.end(), borrows_of) &&
         !quotas_.would_borrow(mine, wanted) && allows(rules.reclaim_within_cohort);
}

/// Whose quota has to be taken away for so much: of borrowers first, then of the lowest priority and the latest
/// admitted; those that turn out not to be needed keep theirs. None: it does not fit even so.
std::optional<std::vector<JobId>> KueueScheduler::victims(JobId job, const Amounts& wanted, const ClusterState& state) {
  const std::size_t mine = queue_of_[job];
  if (quotas_.fits(mine, wanted)) { return std::vector<JobId>(); }
  const KueueQueue& rules = queues_[mine].rules;
  const bool takes_from_nobody =
      rules.within_cluster_queue == KueuePreempt::never && rules.reclaim_within_cohort == KueuePreempt::never;
  if (takes_from_nobody) { return {}; }
  std::vector<const Admitted*> candidates;
  for (auto each = admitted_.rbegin(); each != admitted_.rend(); ++each) { candidates.push_back(&*each); }
  const auto rank = [&](const Admitted* each) { return std::pair(each->queue == mine, state.job(each->job).priority); };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Admitted* a, const Admitted* b) { return rank(a) < rank(b); });
  std::vector<const Admitted*> losers;
  for (const Admitted* each : candidates) {
    if (quotas_.fits(mine, wanted)) { break; }
    if (!may_preempt(job, wanted, *each, state)) { continue; }
    quotas_.give_back(each->queue, each->assigned.amounts);
    losers.push_back(each);
  }
  const bool enough = quotas_.fits(mine, wanted);
  for (std::size_t i = losers.size(); enough && i-- > 0;) {
    quotas_.take(losers[i]->queue, losers[i]->assigned.amounts);
    if (quotas_.fits(mine, wanted)) {
      losers.erase(losers.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      quotas_.give_back(losers[i]->queue, losers[i]->assigned.amounts);
    }
  }
  for (const Admitted* each : losers) { quotas_.take(each->queue, each->assigned.amounts); }
  if (!enough) { return {}; }
  std::vector<JobId> jobs;
  for (const Admitted* each : losers) { jobs.push_back(each->job); }
  return jobs;
}

void KueueScheduler::evict(JobId victim, ClusterState& state) {
  release(victim);
  if (state.is_running(victim)) {
    state.stop(victim);
    requeued_.insert(victim);
  } else {
    --waiting_;
  }
  wait(victim, state);
}

}  // namespace athanor
