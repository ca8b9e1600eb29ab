#include "models/jobs/summary.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "sim/percentile.hpp"

namespace athanor {

namespace {

constexpr double kLeastDuration = 10;  // seconds: shorter jobs would have slowdowns that say nothing
constexpr double kHour = 3600;

struct Mean {
  double sum = 0;
  double count = 0;
};

double fairness_of(const std::map<NameId, Mean>& by_user) {
  if (by_user.size() < 2) { return 1; }
  double sum = 0;
  double squares = 0;
  for (const auto& [user, slowdown] : by_user) {
    const double mean = slowdown.sum / slowdown.count;
    sum += mean;
    squares += mean * mean;
  }
  return sum * sum / (static_cast<double>(by_user.size()) * squares);
}

}  // namespace

double bounded_slowdown(double completion, double duration) {
  return std::max(1.0, completion / std::max(kLeastDuration, duration));
}

TimeSummary time_summary(std::vector<double>& values) {
  if (values.empty()) { return {}; }
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) { sum += value; }
  return {sum / static_cast<double>(values.size()), percentile(values, 50), percentile(values, 90),
          percentile(values, 99), values.back()};
}

JobsSummary summary_of(const JobsRun& run, const JobList& jobs, const NodeList& nodes) {
  JobsSummary summary;
  std::vector<double> waits;
  std::vector<double> completions;
  std::vector<double> slowdowns;
  std::map<NameId, Mean> by_user;
  double useful = 0;
  double held = 0;
  double begun = 0;
  for (const JobId id : jobs.jobs.ids()) {
    const Job& job = jobs.jobs[id];
    const JobOutcome& outcome = run.outcomes[id];
    summary.submitted += job.submitted <= run.ended ? 1 : 0;
    if (outcome.starts == 0) { continue; }
    ++summary.started;
    summary.restarts += outcome.starts - 1;
    summary.queued += outcome.started > job.submitted ? 1 : 0;
    double gpus = static_cast<double>(gpu_milli_of(jobs.shape(id))) / Inventory::kWhole;
    if (job.is_elastic() && outcome.ran() > WallTime::zero()) { gpus = outcome.gpu_seconds / seconds(outcome.ran()); }
    useful += gpus * seconds(outcome.time.useful);
    held += gpus * seconds(outcome.ran());
    begun += gpus * seconds(std::min(outcome.ended, run.ended) - outcome.started);
    FailuresBySize& alike = summary.by_size[gpus];
    alike.hours += seconds(outcome.ran()) / kHour;
    alike.interruptions += outcome.interruptions;
    alike.from_memory += outcome.from_memory;
    summary.interruptions += outcome.interruptions;
    summary.writing_gpu_hours += gpus * seconds(outcome.time.writing) / kHour;
    waits.push_back(seconds(outcome.started - job.submitted));
    summary.timed_out += outcome.state == JobState::timed_out ? 1 : 0;
    summary.failed += outcome.state == JobState::failed ? 1 : 0;
    if (outcome.ended == WallTime::max()) { continue; }
    completions.push_back(seconds(outcome.ended - job.submitted));
    if (outcome.state != JobState::completed) { continue; }
    ++summary.completed;
    const double slowdown = bounded_slowdown(completions.back(), seconds(job.duration));
    slowdowns.push_back(slowdown);
    Mean& of_user = by_user[job.user];
    of_user.sum += slowdown;
    of_user.count += 1;
  }
  summary.goodput = held > 0 ? useful / held : 1;
  summary.effective_time = begun > 0 ? useful / begun : 1;
  summary.wait = time_summary(waits);
  summary.completion = time_summary(completions);
  summary.slowdown = time_summary(slowdowns);
  summary.fairness = fairness_of(by_user);
  summary.makespan = seconds(run.ended);
  summary.gpu_hours = run.usage.sums().gpus / kHour;
  if (summary.makespan > 0) {
    summary.utilisation = run.usage.sums().gpus / (summary.makespan * nodes.gpus());
    summary.queue_length = run.usage.sums().waiting / summary.makespan;
  }
  return summary;
}

}  // namespace athanor
