#include "models/jobs/schedulers/ordered_scheduler.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/jobs/schedulers/gpus_ahead.hpp"
#include "sim/config/fields.hpp"
#include "sim/format.hpp"

namespace athanor {

using Next = WaitingList::Next;

void visit(Fields& fields, OrderedSettings& settings) {
  fields.optional("backfill", settings.backfill, "What happens to jobs behind one that does not fit",
                  {{"none", Backfill::none},
                   {"greedy", Backfill::greedy},
                   {"easy", Backfill::easy},
                   {"conservative", Backfill::conservative}});
  fields.optional("depth", settings.depth, "How many jobs behind the first are looked at; 0: all");
}

Turn OrderedScheduler::turn(JobId job, const ClusterState& state) const {
  return {key_(state.job(job), state.jobs()), job};
}

void OrderedScheduler::enqueue(JobId job, const ClusterState& state) { waiting_.add(turn(job, state), state.job(job)); }

void OrderedScheduler::withdraw(JobId job, const ClusterState& state) {
  waiting_.remove(turn(job, state), state.job(job).shape);
}

void OrderedScheduler::schedule(ClusterState& state) {
  if (settings_.backfill == Backfill::greedy) { return start_greedily(state); }
  start_first(state);
  if (waiting_.size() < 2) { return; }
  if (settings_.backfill == Backfill::easy) { backfill(state); }
  if (settings_.backfill == Backfill::conservative) { plan(state); }
}

void OrderedScheduler::start_first(ClusterState& state) {
  while (!waiting_.empty()) {
    const Turn first = waiting_.first();
    if (!state.start(first.job)) { return; }
    start_done(first.job, state);
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
  const bool ends = reservation_->start != WallTime::max();
  const WallTime over_in_time = ends ? reservation_->start - state.now() : WallTime::max();
  std::uint32_t looked = 0;
  const auto look = [&](Turn turn) {
    if (turn.job == first) { return Next::job; }
    if (too_deep(++looked)) { return Next::none; }
    if (state.job(turn.job).expected <= over_in_time) {
      if (!state.start(turn.job)) { return Next::no_such; }
      started.push_back(turn);
      return Next::job;
    }
    const Hold hold(*reservation_, state);
    if (!state.start(turn.job)) { return Next::short_one; }
    started.push_back(turn);
    return Next::job;
  };
  waiting_.visit(look, over_in_time);
  remove(started, state);
}

void OrderedScheduler::plan(ClusterState& state) {
  if (!any_fits(state)) { return; }  // a plan that nobody starts by is made anew before anybody does
  GpusAhead profile(state);
  std::vector<Turn> started;
  std::uint32_t looked = 0;
  waiting_.visit([&](Turn turn) {
    if (too_deep(looked++)) { return Next::none; }
    const Shape& shape = state.jobs().shape(turn.job);
    const WallTime span = state.job(turn.job).expected;
    WallTime begin = profile.earliest(shape, span, state.now());
    if (begin == state.now() && state.start(turn.job)) {
      started.push_back(turn);
    } else if (begin == state.now()) {  // there are enough, but not where it can be placed
      begin = profile.earliest(shape, span, profile.next_step(begin));
    }
    if (begin == WallTime::max()) { return Next::job; }
    profile.reserve(shape, begin, span);
    return Next::job;
  });
  remove(started, state);
}

void OrderedScheduler::start_done(JobId job, const ClusterState& state) {
  waiting_.remove(turn(job, state), state.job(job).shape);
  started(job, state);
}

void OrderedScheduler::reorder(const ClusterState& state, const std::function<void(JobId)>& change) {
  std::vector<JobId> all;
  waiting_.visit([&](Turn turn) {
    all.push_back(turn.job);
    return Next::job;
  });
  waiting_ = {};
  for (const JobId job : all) {
    change(job);
    waiting_.add(turn(job, state), state.job(job));
  }
  reservation_.reset();
}

bool OrderedScheduler::any_fits(const ClusterState& state) const {
  const std::uint64_t free = std::uint64_t{state.inventory().free_gpus()} * Inventory::kWhole;
  bool fits = false;
  waiting_.visit([&](Turn turn) {
    const Shape& shape = state.jobs().shape(turn.job);
    const bool shared = std::any_of(shape.begin(), shape.end(), [](const TaskGroup& g) { return g.each.gpus == 0; });
    fits = shared || gpu_milli_of(shape) <= free;
    return fits ? Next::none : Next::no_such;
  });
  return fits;
}

void OrderedScheduler::remove(const std::vector<Turn>& started, const ClusterState& state) {
  for (const Turn& turn : started) { start_done(turn.job, state); }
}

std::string OrderedScheduler::reason(JobId job, const ClusterState& state) const {
  const JobId first = waiting_.first().job;
  if (first == job) {
    if (!reservation_ || reservation_->job != job || reservation_->start == WallTime::max()) {
      return "is first and does not fit";
    }
    return fmt::format("is first and is expected to fit at {}", to_string(reservation_->start));
  }
  return fmt::format("waits behind {}", state.jobs().title(first));
}

}  // namespace athanor
