#include "models/workload/link_order.hpp"

#include <algorithm>
#include <array>

#include "models/workload/link_priorities.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kRepetitions = 24;  // of the slower of two that meet

bool meet(const OrderedJob& a, const OrderedJob& b) {
  return std::any_of(a.links.begin(), a.links.end(), [&](std::uint32_t link) { return b.links.contains(link); });
}

/// For which share of time each one's busiest link is busy with it, where the first or the second goes first.
std::array<double, 2> busy_shares(const OrderedJob& a, const OrderedJob& b, bool first, const std::stop_token& stop) {
  std::array<RepeatedStep, 2> steps{a.step, b.step};
  for (RepeatedStep& step : steps) { step.repetitions = 0; }
  steps[0].priority = first ? 1 : 0;
  steps[1].priority = first ? 0 : 1;
  const std::array<Time, 2> begins{};
  const std::vector<Time> periods = StepsSideBySide(steps).periods(begins, kRepetitions, stop);
  return {a.busy / seconds(periods[0]), b.busy / seconds(periods[1])};
}

double correction(const OrderedJob& job, const OrderedJob& reference, const std::stop_token& stop) {
  constexpr double kLeast = 1e-6;
  const std::array<double, 2> before = busy_shares(job, reference, true, stop);
  const std::array<double, 2> behind = busy_shares(job, reference, false, stop);
  const double gain = before[0] - behind[0];
  const double of_reference = behind[1] - before[1];
  return gain > kLeast && of_reference > kLeast ? gain / of_reference : 1;
}

}  // namespace

std::vector<double> crux_corrections(const std::vector<OrderedJob>& jobs, const std::stop_token& stop) {
  const auto reference = std::max_element(
      jobs.begin(), jobs.end(), [](const OrderedJob& a, const OrderedJob& b) { return a.traffic < b.traffic; });
  std::vector<double> corrections;
  for (const OrderedJob& job : jobs) {
    const bool itself = &job == &*reference;
    corrections.push_back(itself || !meet(job, *reference) ? 1 : correction(job, *reference, stop));
  }
  return corrections;
}

std::vector<std::uint32_t> crux_classes(const std::vector<OrderedJob>& jobs, std::uint32_t classes,
                                        const std::stop_token& stop) {
  const std::vector<double> corrections = crux_corrections(jobs, stop);
  LinkContention contention;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    contention.intensity.push_back(jobs[job].intensity);
    contention.priority.push_back(jobs[job].intensity * corrections[job]);
    std::vector<bool>& row = contention.meets.emplace_back();
    for (const OrderedJob& other : jobs) { row.push_back(&other != &jobs[job] && meet(jobs[job], other)); }
  }
  return priority_classes(contention, classes);
}

}  // namespace athanor
