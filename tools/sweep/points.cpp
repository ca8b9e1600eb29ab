#include "tools/sweep/points.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sim/check.hpp"
#include "sim/config/json_value.hpp"
#include "tools/cli/errors.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/scenarios.hpp"

namespace athanor {

namespace {

constexpr std::size_t kMostWaiting = 256;

}  // namespace

PointRunner::PointRunner(const SweepOrder& order, std::function<bool()> interrupted)
    : order_(order),
      interrupted_(std::move(interrupted)),
      prices_(load_prices(order.common.library)),
      inputs_(order.common.library.files()),
      reader_(order.common.library) {}

std::optional<SweepOutcome> PointRunner::run(std::uint64_t point) {
  SweepOutcome outcome{.point = point, .results = {}, .warnings = {}, .error = "", .host = host_name()};
  const auto begin = std::chrono::steady_clock::now();
  try {
    if (!simulate(point, outcome)) { return std::nullopt; }
  } catch (...) {
    outcome.results.clear();
    outcome.error = text_of(problem_record(current_failure().problems.front()));
  }
  outcome.inputs = inputs_.fresh();
  for (Manifest::Input& input : outcome.inputs) { input.path = canonical_path(input.path); }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

bool PointRunner::simulate(std::uint64_t index, SweepOutcome& outcome) {
  const SweepPlan::Point point = order_.plan.point(index);
  ScenarioChanges changes = order_.changes;
  changes.only = order_.cases[point.scenario_case];
  for (std::string& setting : order_.plan.settings(point)) { changes.settings.push_back(std::move(setting)); }
  Problems problems;
  const Scenario scenario = reader_.read(order_.path, changes, problems);
  problems.throw_if_any();
  const Case& only = scenario.cases.at(0);
  const JsonValue bill = bill_json(bill_of(only, prices_));
  const RunObserver observer{{},
                             [&](const Record& record) {
                               JsonValue result = record.json();
                               result.update(bill);
                               outcome.results.push_back(text_of(result));
                             },
                             interrupted_};
  if (!athanor::run(scenario, only, order_.options, observer)) { return false; }
  outcome.warnings = warnings_of(only);
  return true;
}

PointPool::PointPool(const SweepOrder& order, std::uint32_t threads, std::function<bool()> interrupted)
    : least_(std::size_t{2} * threads), wanted_(least_) {
  require(threads > 0, "a pool of no thread");
  const auto ends = [this, interrupted = std::move(interrupted)] { return stopped_.load() || interrupted(); };
  for (std::uint32_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, &order, ends] { work(order, ends); });
  }
}

PointPool::~PointPool() {
  stopped_ = true;
  waiting_.notify_all();
  for (std::thread& thread : threads_) { thread.join(); }
}

std::size_t PointPool::room() const {
  const std::lock_guard lock(mutex_);
  const std::size_t unfinished = under_way_ - outcomes_.size();
  return unfinished < wanted_ ? wanted_ - unfinished : 0;
}

void PointPool::submit(std::uint64_t point) {
  const std::lock_guard lock(mutex_);
  points_.push_back(point);
  ++under_way_;
  waiting_.notify_one();
}

std::size_t PointPool::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_;
}

std::vector<SweepOutcome> PointPool::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return !outcomes_.empty() || under_way_ == 0 || failure_; });
  if (failure_) { std::rethrow_exception(failure_); }
  under_way_ -= outcomes_.size();
  // Points may be far shorter than it takes to write some of them down durably.
  wanted_ = std::clamp(2 * outcomes_.size(), least_, std::max(least_, kMostWaiting));
  return std::exchange(outcomes_, {});
}

void PointPool::work(const SweepOrder& order, const std::function<bool()>& interrupted) {
  try {
    PointRunner runner(order, interrupted);
    work_on_points(runner);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

void PointPool::work_on_points(PointRunner& runner) {
  for (;;) {
    std::unique_lock lock(mutex_);
    // With a time limit: whoever sets stopped_ may do so between the question and the wait.
    while (points_.empty() && !stopped_) { waiting_.wait_for(lock, std::chrono::milliseconds(100)); }
    if (stopped_) { return; }
    const std::uint64_t point = points_.front();
    points_.pop_front();
    lock.unlock();
    std::optional<SweepOutcome> outcome = runner.run(point);
    lock.lock();
    if (outcome) {
      outcomes_.push_back(std::move(*outcome));
    } else {
      --under_way_;
    }
    changed_.notify_all();
  }
}

}  // namespace athanor
