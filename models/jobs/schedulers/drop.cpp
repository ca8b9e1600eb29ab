#include <utility>
#include <vector>

#include "models/jobs/schedulers/entry.hpp"

namespace athanor {

namespace {

/// A loss system: what cannot begin at once never does. A job that has lost its nodes is tried once more.
class DropScheduler final : public Scheduler {
 public:
  void enqueue(JobId job, const ClusterState& /*state*/) override { arrived_.push_back(job); }
  void withdraw(JobId job, const ClusterState& /*state*/) override { std::erase(arrived_, job); }
  void schedule(ClusterState& state) override {
    for (const JobId job : std::exchange(arrived_, {})) { state.start(job); }
  }
  std::size_t waiting() const override { return arrived_.size(); }
  std::string reason(JobId /*job*/, const ClusterState& /*state*/) const override {
    return "did not fit when it was submitted, and was dropped";
  }

 private:
  std::vector<JobId> arrived_;  ///< since the last call
};

}  // namespace

struct Drop final : SchedulerKind {
  static constexpr std::string_view kName = "drop";
  static constexpr std::string_view kMeaning = "no queue: a job that does not fit when it is submitted never runs";
  std::unique_ptr<Scheduler> make(const JobList& /*jobs*/, const NodeList& /*nodes*/) const override {
    return std::make_unique<DropScheduler>();
  }
};

template SchedulerEntry scheduler_entry_of<Drop>();

}  // namespace athanor
