#include "models/jobs/schedulers/volcano/scheduler.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/jobs/later.hpp"

namespace athanor {

namespace {

/// Of a job that is overdue: a tier before that of gang says that it is kept.
bool keeps_overdue(const VolcanoSettings& settings) {
  for (const VolcanoTier& tier : settings.tiers) {
    const auto has = [&](VolcanoPlugin plugin) {
      return std::any_of(tier.begin(), tier.end(), [&](const auto& use) { return use.plugin == plugin; });
    };
    if (has(VolcanoPlugin::gang)) { return false; }
    if (has(VolcanoPlugin::sla)) { return true; }
  }
  return false;
}

bool has_limits(const Node& node) { return node.cpu_milli != Node::kUnlimited || node.memory_mib != Node::kUnlimited; }

void add(const Node& node, Amounts& sum) {
  const auto add_kind = [&](Amounts::Kind kind, std::uint32_t has) {
    const bool unlimited = has == Node::kUnlimited || sum.of[kind] == Amounts::kUnlimited;
    sum.of[kind] = unlimited ? Amounts::kUnlimited : sum.of[kind] + has;
  };
  add_kind(Amounts::cpu, node.cpu_milli);
  add_kind(Amounts::memory, node.memory_mib);
  add_kind(Amounts::gpu, std::uint32_t{node.gpus} * Inventory::kWhole);
}

RevocableZones zones_of(const VolcanoSettings& settings, const NodeList& nodes) {
  const auto* tdm = settings.use_of(VolcanoPlugin::tdm);
  return tdm == nullptr ? RevocableZones() : RevocableZones(tdm->zones, nodes.count());
}

double gpus(std::int64_t milli) { return static_cast<double>(milli) / Inventory::kWhole; }

}  // namespace

VolcanoScheduler::VolcanoScheduler(VolcanoSettings settings, const JobList& jobs, const NodeList& nodes)
    : settings_(std::move(settings)),
      list_(jobs),
      queues_(settings_, jobs),
      jobs_(settings_, queues_, jobs),
      zones_(zones_of(settings_, nodes)),
      nodes_have_limits_(std::any_of(nodes.nodes.begin(), nodes.nodes.end(), has_limits)),
      alike_differ_(settings_.has(VolcanoPlugin::sla) || settings_.has(VolcanoPlugin::tdm) ||
                    std::any_of(jobs.jobs.begin(), jobs.jobs.end(), [](const Job& job) { return job.is_elastic(); })),
      keeps_overdue_(keeps_overdue(settings_)),
      pending_(queues_.count()),
      inqueue_(queues_.count()),
      running_by_priority_(queues_.count()) {
  for (const Node& node : nodes.nodes) { add(node, all_nodes_); }
}

void VolcanoScheduler::enqueue(JobId job, const ClusterState& /*state*/) {
  if (jobs_[job].phase == Phase::running) { leave_nodes(job); }
  VolcanoJob& known = jobs_[job];
  ++waiting_;
  if (const auto* sla = settings_.use_of(VolcanoPlugin::sla)) {
    deadlines_.emplace(later(list_.jobs[job].submitted, sla->waiting_time), job);
  }
  if (settings_.has(VolcanoAction::enqueue)) {
    known.phase = Phase::pending;
    pending_[known.queue].add(jobs_.turn(job), list_.jobs[job]);
  } else {
    let_in(job);
  }
}

void VolcanoScheduler::ended(JobId job, const ClusterState& /*state*/) { leave_nodes(job); }

void VolcanoScheduler::withdraw(JobId job, const ClusterState& /*state*/) {
  VolcanoJob& known = jobs_[job];
  if (known.phase == Phase::running) { return leave_nodes(job); }
  --waiting_;
  if (known.phase == Phase::pending) {
    pending_[known.queue].remove(jobs_.turn(job), list_.jobs[job].shape);
  } else {
    inqueue_[known.queue].remove(jobs_.turn(job), list_.jobs[job].shape);
    queues_.leave(known.queue, jobs_.request(job));
  }
  want(job, {});
  take_out_deadline(job);
  known.phase = Phase::none;
}

void VolcanoScheduler::take_out_deadline(JobId job) {
  const auto* sla = settings_.use_of(VolcanoPlugin::sla);
  if (sla != nullptr) { deadlines_.erase({later(list_.jobs[job].submitted, sla->waiting_time), job}); }
}

/// A job that ran does not any more, whoever took its nodes.
void VolcanoScheduler::leave_nodes(JobId job) {
  VolcanoJob& known = jobs_[job];
  queues_.release(known.queue, known.allocated);
  known.allocated = {};
  want(job, {});
  known.phase = Phase::none;
  elastic_.erase(job);
  incomplete_.erase(job);
  auto& by_priority = running_by_priority_[known.queue];
  const auto at = by_priority.find(list_.jobs[job].priority);
  if (--at->second == 0) { by_priority.erase(at); }
}

void VolcanoScheduler::let_in(JobId job) {
  VolcanoJob& known = jobs_[job];
  known.phase = Phase::inqueue;
  inqueue_[known.queue].add(jobs_.turn(job), list_.jobs[job]);
  queues_.let_in(known.queue, jobs_.request(job));
  want(job, jobs_.most(job));
}

void VolcanoScheduler::want(JobId job, const Amounts& what) {
  queues_.want(jobs_[job].queue, what, jobs_[job].wanted);
  jobs_[job].wanted = what;
}

void VolcanoScheduler::start(JobId job, Allocation where, ClusterState& state) {
  VolcanoJob& known = jobs_[job];
  known.allocated = amounts_of(where, state.jobs().shape(job));
  queues_.allocate(known.queue, known.allocated);
  Amounts more = jobs_.most(job);
  more -= known.allocated;
  want(job, more);
  known.phase = Phase::running;
  take_out_deadline(job);
  known.is_settled = true;
  settled_.push_back(job);
  ++running_by_priority_[known.queue][list_.jobs[job].priority];
  if (list_.jobs[job].is_elastic()) { elastic_.insert(job); }
  state.start(job, std::move(where));
}

bool VolcanoScheduler::is_overdue(JobId job, const ClusterState& state) const {
  const auto* sla = settings_.use_of(VolcanoPlugin::sla);
  return sla != nullptr && state.now() >= later(list_.jobs[job].submitted, sla->waiting_time);
}

Amounts VolcanoScheduler::total(const ClusterState& state) const {
  const Inventory& inventory = state.inventory();
  bool all_open = true;
  for (const NodeId node : inventory.nodes().nodes.ids()) { all_open = all_open && inventory.is_open(node); }
  if (all_open) { return all_nodes_; }
  Amounts sum;
  for (const NodeId node : inventory.nodes().nodes.ids()) {
    if (inventory.is_open(node)) { add(inventory.nodes().nodes[node], sum); }
  }
  return sum;
}

void VolcanoScheduler::schedule(ClusterState& state) {
  open(state);
  for (const VolcanoAction action : settings_.actions) {
    switch (action) {
      case VolcanoAction::enqueue: enqueue_all(state); break;
      case VolcanoAction::allocate: allocate_all(state); break;
      case VolcanoAction::backfill: backfill_all(state); break;
      case VolcanoAction::preempt:
        evict_for_all(Eviction::preempt, state);
        revoke(state);
        break;
      case VolcanoAction::reclaim: evict_for_all(Eviction::reclaim, state); break;
    }
  }
  close(state);
}

void VolcanoScheduler::open(ClusterState& state) {
  release_holdings(state);
  total_ = total(state);
  session_.emplace(settings_, zones_, nodes_have_limits_, state);
  for (const Holding& holding : holdings_) {
    session_->future().give_back(holding.where, state.jobs().shape(holding.shape));
  }
  queues_.open(total_);
  while (!deadlines_.empty() && deadlines_.begin()->first <= state.now()) { deadlines_.erase(deadlines_.begin()); }
}

void VolcanoScheduler::close(ClusterState& state) {
  for (const auto& [job, placed] : kept_) { state.inventory().give_back(placed.on_free, jobs_.needed_shape(job)); }
  for (const auto& [queue, what] : pipelined_) { queues_.release(queue, what); }
  const bool goes_on = std::exchange(may_grow_, false) || !new_jobs_.empty();
  next_session_ = goes_on ? state.now() + WallTime{1} : WallTime::max();
  for (const JobId job : new_jobs_) { jobs_[job].is_new = false; }
  count_zone_session(state.now());
  for (const JobId job : settled_) { jobs_[job].is_settled = false; }
  kept_.clear();
  pipelined_.clear();
  new_jobs_.clear();
  settled_.clear();
  session_.reset();
}

void VolcanoScheduler::release_holdings(ClusterState& state) {
  std::erase_if(holdings_, [&](const Holding& holding) {
    if (holding.until > state.now()) { return false; }
    const Shape& shape = state.jobs().shape(holding.shape);
    state.inventory().give_back(holding.where, shape);
    held_ -= amounts_of(holding.where, shape);
    return true;
  });
}

WallTime VolcanoScheduler::next_call(const ClusterState& /*state*/) const {
  WallTime next = std::min(next_session_, next_zone_session_);
  if (!deadlines_.empty()) { next = std::min(next, deadlines_.begin()->first); }
  for (const Holding& holding : holdings_) { next = std::min(next, holding.until); }
  return next;
}

std::string VolcanoScheduler::reason(JobId job, const ClusterState& state) const {
  const VolcanoJob& known = jobs_[job];
  const Amounts request = jobs_.request(job);
  const std::string in = fmt::format("queue '{}'", queues_.name(known.queue));
  if (incomplete_.contains(job)) {
    return fmt::format("has {} GPUs in {}, and lacks {} of tasks that it has lost: {} are free",
                       gpus(known.allocated.of[Amounts::gpu]), in, gpus(request_of(job, state).of[Amounts::gpu]),
                       state.inventory().free_gpus());
  }
  if (known.phase == Phase::pending) {
    return fmt::format("is pending: {} has {} GPUs, and {} are asked for by jobs in all queues", in,
                       gpus(queues_.allocated(known.queue).of[Amounts::gpu]), gpus(queues_.inqueue().of[Amounts::gpu]));
  }
  if (known.is_best_effort) { return fmt::format("is in {}, and asks for nothing: \"backfill\" would place it", in); }
  if (!queues_.is_allocatable(known.queue, request)) {
    return fmt::format("is in {}, which has {} GPUs and may not have {} more", in,
                       gpus(queues_.allocated(known.queue).of[Amounts::gpu]), gpus(request.of[Amounts::gpu]));
  }
  return fmt::format("is in {}, and asks for {} GPUs: {} are free, too few or not where it needs them", in,
                     gpus(request.of[Amounts::gpu]), state.inventory().free_gpus());
}

}  // namespace athanor
