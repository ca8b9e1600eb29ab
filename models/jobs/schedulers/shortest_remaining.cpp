#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/ranked_scheduler.hpp"

namespace athanor {

namespace {

class ShortestRemainingScheduler final : public RankedScheduler {
  std::int64_t rank(JobId job, const ClusterState& state) const override { return state.remaining(job).count(); }
};

}  // namespace

struct ShortestRemainingFirst final : SchedulerKind {
  static constexpr std::string_view kName = "srtf";
  static constexpr std::string_view kMeaning =
      "the jobs that are expected to need the least time still run, and others lose their nodes to them";

  std::unique_ptr<Scheduler> make(const JobList& /*jobs*/, const NodeList& /*nodes*/) const override {
    return std::make_unique<ShortestRemainingScheduler>();
  }
};

template SchedulerEntry scheduler_entry_of<ShortestRemainingFirst>();

}  // namespace athanor
