#include "models/jobs/schedulers/ranked_scheduler.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "models/jobs/schedulers/gpu_count.hpp"
#include "models/jobs/schedulers/preemption.hpp"

namespace athanor {

using Next = WaitingList::Next;

namespace {

/// Takes exactly these GPUs. False: they are not all free, and nothing is taken.
bool retake(const Allocation& where, const Shape& shape, Inventory& inventory) {
  Allocation taken;
  for (const NodeShare& share : where) {
    const Demand& each = shape[share.group].each;
    if (!inventory.has(share, each)) {
      inventory.give_back(taken, shape);
      return false;
    }
    inventory.take(share, each);
    taken.push_back(share);
  }
  return true;
}

/// Starts what fits of the chosen when the losers, in the order of their turns, are gone. Those whose GPUs nobody got
/// keep them.
void replace(const std::vector<JobId>& losers, const std::vector<Turn>& chosen, ClusterState& state) {
  Inventory later = state.inventory();
  for (const JobId job : losers) { later.give_back(state.running(job).where, state.jobs().shape(job)); }
  std::vector<std::pair<JobId, Allocation>> placed;
  std::vector<bool> unfit(state.jobs().shapes());
  for (const Turn& turn : chosen) {
    const ShapeId shape = state.job(turn.job).shape;
    if (unfit[shape.value]) { continue; }
    auto where = state.placement().place(state.jobs().shape(shape), later);
    unfit[shape.value] = !where.has_value();
    if (where) { placed.emplace_back(turn.job, std::move(*where)); }
  }
  for (const JobId job : losers) {
    if (!retake(state.running(job).where, state.jobs().shape(job), later)) { state.stop(job); }
  }
  for (auto& [job, where] : placed) {
    state.inventory().take(where, state.jobs().shape(job));
    state.start(job, std::move(where));
  }
}

}  // namespace

void RankedScheduler::enqueue(JobId job, const ClusterState& state) { waiting_.add(turn(job, state), state.job(job)); }

void RankedScheduler::withdraw(JobId job, const ClusterState& state) {
  waiting_.remove(turn(job, state), state.job(job).shape);
}

void RankedScheduler::move(Turn from, Turn to, const ClusterState& state) {
  waiting_.remove(from, state.job(from.job).shape);
  waiting_.add(to, state.job(to.job));
}

std::vector<Turn> RankedScheduler::running_behind(Turn turn, const ClusterState& state) const {
  std::vector<Turn> behind;
  for (const RunningJob& running : state.running()) {
    const Turn own = this->turn(running.job, state);
    if (turn < own) { behind.push_back(own); }
  }
  std::sort(behind.begin(), behind.end());
  return behind;
}

bool RankedScheduler::start_instead(Turn turn, ClusterState& state) const {
  std::vector<JobId> losers;
  for (const Turn& each : running_behind(turn, state)) { losers.push_back(each.job); }
  std::reverse(losers.begin(), losers.end());
  return start_in_place_of(losers, turn.job, state);
}

bool RankedScheduler::start_without_losers(ClusterState& state) {
  while (!waiting_.empty()) {
    const Turn first = waiting_.first();
    if (!state.start(first.job)) { return false; }
    waiting_.remove(first, state.job(first.job).shape);
  }
  return true;
}

void RankedScheduler::schedule(ClusterState& state) {
  if (start_without_losers(state)) { return; }
  const std::vector<Turn> running = running_behind(waiting_.first(), state);  // those before it keep what they have
  GpuCount left = GpuCount::of_free(state);
  for (const Turn& turn : running) { left.give(state.running(turn.job), state); }
  std::vector<Turn> chosen;
  std::vector<JobId> losers;
  std::size_t next = 0;
  const auto keep_before = [&](Turn turn) {
    for (; next < running.size() && running[next] < turn; ++next) {
      if (!left.take(state.jobs().shape(running[next].job), state.inventory())) { losers.push_back(running[next].job); }
    }
  };
  waiting_.visit([&](Turn turn) {
    keep_before(turn);
    if (!left.take(state.jobs().shape(turn.job), state.inventory())) { return Next::no_such; }
    chosen.push_back(turn);
    return Next::job;
  });
  if (chosen.empty()) { return; }
  keep_before({INT64_MAX, JobId{UINT32_MAX}});
  replace(losers, chosen, state);
  for (const Turn& turn : chosen) {
    if (state.is_running(turn.job) || start_instead(turn, state)) { waiting_.remove(turn, state.job(turn.job).shape); }
  }
}

std::string RankedScheduler::reason(JobId job, const ClusterState& state) const {
  const std::uint64_t milli = gpu_milli_of(state.jobs().shape(job));
  std::size_t before = 0;
  for (const RunningJob& running : state.running()) { before += turn(running.job, state) < turn(job, state) ? 1 : 0; }
  return fmt::format("waits for {} GPUs, {} running jobs come before it and {} GPUs are free",
                     static_cast<double>(milli) / Inventory::kWhole, before, state.inventory().free_gpus());
}

}  // namespace athanor
