#include "models/jobs/schedulers/preemption.hpp"

#include <optional>
#include <vector>

namespace athanor {

namespace {

/// What would be free if some running jobs were not there.
class Trial {
 public:
  Trial(JobId job, ClusterState& state)
      : state_(state), shape_(state.jobs().shape(job)), needed_(gpu_milli_of(shape_) / Inventory::kWhole) {}

  void without(JobId victim) {
    state_.inventory().give_back(state_.running(victim).where, state_.jobs().shape(victim));
  }
  void with(JobId victim) { state_.inventory().take(state_.running(victim).where, state_.jobs().shape(victim)); }
  /// Where the job would be; nothing stays taken.
  std::optional<Allocation> place() {
    if (state_.inventory().free_gpus() < needed_) { return {}; }
    auto where = state_.placement().place(shape_, state_.inventory());
    if (where) { state_.inventory().give_back(*where, shape_); }
    return where;
  }

 private:
  ClusterState& state_;
  const Shape& shape_;
  std::uint64_t needed_;
};

}  // namespace

bool start_in_place_of(std::span<const JobId> victims, JobId job, ClusterState& state) {
  Trial trial(job, state);
  std::optional<Allocation> where;
  std::vector<JobId> losers;
  for (std::size_t next = 0; next < victims.size() && !where; ++next) {
    trial.without(victims[next]);
    losers.push_back(victims[next]);
    where = trial.place();
  }
  for (std::size_t i = where ? losers.size() : 0; i-- > 0;) {
    trial.with(losers[i]);
    if (auto beside = trial.place()) {
      where = std::move(beside);
      losers.erase(losers.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      trial.without(losers[i]);
    }
  }
  for (const JobId loser : losers) { trial.with(loser); }
  if (!where) { return false; }
  for (const JobId loser : losers) { state.stop(loser); }
  state.inventory().take(*where, state.jobs().shape(job));
  state.start(job, std::move(*where));
  return true;
}

}  // namespace athanor
