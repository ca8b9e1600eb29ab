#include "models/jobs/schedulers/ordered_scheduler.hpp"

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/format.hpp"

namespace athanor {

using Next = WaitingList::Next;

void visit(Fields& fields, OrderedSettings& settings) {
  fields.optional("backfill", settings.backfill, "What happens to jobs behind one that does not fit",
                  {{"none", Backfill::none}, {"greedy", Backfill::greedy}, {"easy", Backfill::easy}});
  fields.optional("depth", settings.depth, "How many jobs behind the first are looked at; 0: all");
}

Turn OrderedScheduler::turn(JobId job, const ClusterState& state) const {
  return {key_(state.job(job), state.jobs()), job};
}

void OrderedScheduler::enqueue(JobId job, const ClusterState& state) {
  waiting_.add(turn(job, state), state.job(job).shape);
}

void OrderedScheduler::withdraw(JobId job, const ClusterState& state) {
  waiting_.remove(turn(job, state), state.job(job).shape);
}

void OrderedScheduler::schedule(ClusterState& state) {
  if (settings_.backfill == Backfill::greedy) { return start_greedily(state); }
  start_first(state);
  if (settings_.backfill == Backfill::easy && waiting_.size() > 1) { backfill(state); }
}

void OrderedScheduler::start_first(ClusterState& state) {
  while (!waiting_.empty()) {
    const Turn first = waiting_.first();
    if (!state.start(first.job)) { return; }
    waiting_.remove(first, state.job(first.job).shape);
  }
}

void OrderedScheduler::start_greedily(ClusterState& state) {
  std::vector<Turn> started;
  std::uint32_t looked = 0;
  waiting_.visit([&](Turn turn) {
    if (too_deep(looked++)) { return Next::none; }
    if (!state.start(turn.job)) { return Next::no_such; }
    started.push_back(turn);
    return Next::job;
  });
  remove(started, state);
}

void OrderedScheduler::backfill(ClusterState& state) {
  const JobId first = waiting_.first().job;
  if (!reservation_ || reservation_->job != first || surprises_ != state.surprises()) {
    reservation_ = Reservation::of(first, state);
    surprises_ = state.surprises();
  }
  std::vector<Turn> started;
  std::vector<bool> only_short(state.jobs().shapes());  // shapes that do not fit beside the reservation
  std::uint32_t looked = 0;
  waiting_.visit([&](Turn turn) {
    if (turn.job == first) { return Next::job; }
    if (too_deep(++looked)) { return Next::none; }
    const Job& job = state.job(turn.job);
    const bool over_in_time =
        reservation_->start == WallTime::max() || job.expected <= reservation_->start - state.now();
    if (over_in_time) {
      if (!state.start(turn.job)) { return Next::no_such; }
      started.push_back(turn);
      return Next::job;
    }
    if (only_short[job.shape.value]) { return Next::job; }
    const Hold hold(*reservation_, state);
    if (state.start(turn.job)) {
      started.push_back(turn);
    } else {
      only_short[job.shape.value] = true;
    }
    return Next::job;
  });
  remove(started, state);
}

void OrderedScheduler::remove(const std::vector<Turn>& started, const ClusterState& state) {
  for (const Turn& turn : started) { waiting_.remove(turn, state.job(turn.job).shape); }
}

std::string OrderedScheduler::reason(JobId job, const ClusterState& state) const {
  const JobId first = waiting_.first().job;
  if (first == job) {
    if (!reservation_ || reservation_->job != job || reservation_->start == WallTime::max()) {
      return "is first and does not fit";
    }
    return fmt::format("is first and is expected to fit at {}", to_string(reservation_->start));
  }
  return fmt::format("waits behind {}", state.jobs().name(state.job(first).name));
}

}  // namespace athanor
