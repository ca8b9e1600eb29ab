#include "tools/command_line/sweep/point_runner.hpp"

#include <chrono>

#include <nlohmann/json.hpp>

#include "sim/json/text.hpp"
#include "tools/command_line/compare/add_bill.hpp"
#include "tools/command_line/failure.hpp"
#include "tools/command_line/run/run_case.hpp"

namespace athanor {

namespace {

/// Says and writes nothing, and simulates as the command line asks.
Invocation quiet(const Invocation& invocation) {
  Invocation result{{}, {}, {}, invocation.library};
  result.quiet = true;
  for (const char* option : {"no-classes", "no-repeat"}) {
    if (invocation.has(option)) { result.options.emplace(option, invocation.options[option]); }
  }
  return result;
}

}  // namespace

PointRunner::PointRunner(const SweepOrder& order, std::function<bool()> interrupted)
    : order_(order),
      silence_{.out = [](std::string_view) {}, .err = [](std::string_view) {}, .interrupted = std::move(interrupted)},
      quiet_(quiet(order.invocation)),
      prices_(load_prices(quiet_.library)),
      inputs_(order.invocation.read_log),
      reader_(quiet_.library) {}

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
  ResultSink sink(quiet_, silence_);
  const Case& only = scenario.cases.at(0);
  if (!run_case(scenario, only, quiet_, nullptr, silence_, sink)) { return false; }
  std::vector<nlohmann::ordered_json> records = result_records(sink.results());
  add_bill(only, prices_, records);
  for (const auto& record : records) { outcome.results.push_back(text_of(record)); }
  outcome.warnings = sink.warnings();
  return true;
}

}  // namespace athanor
