#include "models/jobs/logged_waits.hpp"

#include <algorithm>
#include <cmath>

#include "sim/percentile.hpp"
#include "sim/rank_correlation.hpp"

namespace athanor {

namespace {

constexpr double kMinute = 60;

struct BothWaits {
  std::vector<double> logged;
  std::vector<double> simulated;
};

void compare(const BothWaits& waits, LoggedWaits& found) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < waits.logged.size(); ++i) {
    differences.push_back(std::abs(waits.simulated[i] - waits.logged[i]));
  }
  std::sort(differences.begin(), differences.end());
  const auto beyond = std::upper_bound(differences.begin(), differences.end(), kMinute);
  found.median_difference = percentile(differences, 50);
  found.within_a_minute = static_cast<double>(beyond - differences.begin()) / static_cast<double>(differences.size());
  found.correlation = rank_correlation(waits.logged, waits.simulated);
}

}  // namespace

std::optional<LoggedWaits> logged_waits(const std::vector<std::optional<WallTime>>& logged, const JobsRun& run,
                                        const JobList& jobs) {
  LoggedWaits found;
  BothWaits waits;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const JobId id{static_cast<std::uint32_t>(i)};
    if (!logged[i] || run.outcomes[id].starts == 0) { continue; }
    const Job& job = jobs.jobs[id];
    waits.logged.push_back(seconds(*logged[i]));
    waits.simulated.push_back(seconds(run.outcomes[id].started - job.submitted));
    LoggedWaits::Queue& queue = found.queues[jobs.name(job.queue)];
    ++queue.jobs;
    queue.logged += waits.logged.back();
    queue.simulated += waits.simulated.back();
  }
  found.jobs = waits.logged.size();
  if (found.jobs == 0) { return {}; }
  for (auto& [name, queue] : found.queues) {
    queue.logged /= static_cast<double>(queue.jobs);
    queue.simulated /= static_cast<double>(queue.jobs);
  }
  compare(waits, found);
  found.logged = time_summary(waits.logged);
  found.simulated = time_summary(waits.simulated);
  return found;
}

}  // namespace athanor
