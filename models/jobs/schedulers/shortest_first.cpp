#include "models/jobs/schedulers/entry.hpp"
#include "models/jobs/schedulers/ordered_scheduler.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

/// Expected GPU seconds, to a thousandth: no list of jobs has one of 292 years on a million GPUs.
std::int64_t gpu_time(const Job& job, const JobList& jobs) {
  const double work = static_cast<double>(gpu_milli_of(jobs.shape(job.shape))) * seconds(job.expected);
  return work < 9e18 ? static_cast<std::int64_t>(work) : INT64_MAX;
}

}  // namespace

struct ShortestJobFirst final : SchedulerKind {
  static constexpr std::string_view kName = "sjf";
  static constexpr std::string_view kMeaning = "one queue, the job first that is expected to run shortest";
  OrderedSettings settings;

  void visit(Fields& fields) override { athanor::visit(fields, settings); }
  std::unique_ptr<Scheduler> make(const JobList& /*jobs*/, const NodeList& /*nodes*/) const override {
    return std::make_unique<OrderedScheduler>(
        [](const Job& job, const JobList& /*jobs*/) { return job.expected.count(); }, settings);
  }
};

struct ShortestServiceFirst final : SchedulerKind {
  static constexpr std::string_view kName = "qssf";
  static constexpr std::string_view kMeaning =
      "one queue, the job first that is expected to take the least GPU time (Helios, SC 2021)";
  OrderedSettings settings;

  void visit(Fields& fields) override { athanor::visit(fields, settings); }
  std::unique_ptr<Scheduler> make(const JobList& /*jobs*/, const NodeList& /*nodes*/) const override {
    return std::make_unique<OrderedScheduler>(&gpu_time, settings);
  }
};

template SchedulerEntry scheduler_entry_of<ShortestJobFirst>();
template SchedulerEntry scheduler_entry_of<ShortestServiceFirst>();

}  // namespace athanor
