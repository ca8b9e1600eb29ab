#include "tools/sweep/point_runner.hpp"

#include <chrono>

#include "sim/config/json_value.hpp"
#include "tools/cli/errors.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/scenarios.hpp"

namespace athanor {

PointRunner::PointRunner(const SweepOrder& order, std::function<bool()> interrupted)
    : order_(order),
      interrupted_(std::move(interrupted)),
      prices_(load_prices(order.common.library)),
      inputs_(order.common.read_log),
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

}  // namespace athanor
