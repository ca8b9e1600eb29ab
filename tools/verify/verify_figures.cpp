#include "tools/verify/verify_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "models/experiments/shared_cluster_columns.hpp"
#include "models/experiments/table.hpp"
#include "sim/error.hpp"
#include "sim/percentile.hpp"
#include "tools/cli/scenarios.hpp"

namespace athanor {

namespace {

constexpr Column kMeasured{"", "measured", "", 14, Format::word};
constexpr Column kSimulated{"", "simulated", "", 14, Format::word};
constexpr Column kRelative{"", "error", "(%)", 9, Format::signed_percent};
constexpr Column kName{"", "figure", "", 0, Format::text, 2};

ResultTable figures_table() { return ResultTable({&kMeasured, &kSimulated, &kRelative, &kName}); }

/// One figure of a case.
struct Comparison {
  std::string figure;
  double measured = 0;
  double simulated = 0;

  bool has_error() const { return measured > 0; }
  double error() const { return simulated / measured - 1; }
};

/// Two decimals, and four digits of what is small: seconds to a first token, shares.
std::string figure_text(double value) {
  const double size = std::abs(value);
  if (size > 0 && size < 10) { return fmt::format("{:#.4g}", value); }
  return fmt::format("{:.{}f}", value, size < 1e10 ? 2 : 0);
}

std::string line_of(const Comparison& compared) {
  Record line;
  line.put(kMeasured, figure_text(compared.measured));
  line.put(kSimulated, figure_text(compared.simulated));
  if (compared.has_error()) { line.put(kRelative, compared.error()); }
  line.put(kName, compared.figure);
  return figures_table().lines(line);
}

Comparison comparison_of(const MeasuredFigure& measured, const Case& of, const Record& record) {
  if (!record.has(*measured.column)) {
    throw ScenarioError({"nothing-to-verify",
                         fmt::format("a run of '{}' has no '{}'", of.name, measured.column->key),
                         {"", 0, 0, fmt::format("/{}/measured", of.experiment->subject())},
                         "leave it out, or simulate what it is a figure of"});
  }
  return {std::string(measured.column->key), measured.value, record.number(*measured.column)};
}

/// Of a log: the first is the mean of all.
std::vector<Comparison> waits_of(const JsonValue& waits) {
  std::vector<Comparison> all;
  const auto add = [&](std::string name, const JsonValue& both) {
    all.push_back({std::move(name), both.find("logged_s")->number(), both.find("simulated_s")->number()});
  };
  for (const char* each : {"mean", "median", "p90", "p99", "max"}) {
    add(fmt::format("wait, {} (s)", each), *waits.find(each));
  }
  const auto& queues = waits.find("queues")->members();
  if (queues.size() < 2) { return all; }
  for (const auto& [name, queue] : queues) {
    const double jobs = queue.find("jobs")->number();
    add(fmt::format("wait, mean of {} job{} of {} (s)", jobs, jobs == 1 ? "" : "s", name.empty() ? "no queue" : name),
        queue);
  }
  return all;
}

std::string waits_text(const JsonValue& waits) {
  const auto value = [&](const char* key) { return waits.find(key)->number(); };
  return fmt::format(
      "# of {} jobs the log says when they started: waits are {:.0f} s apart in the median, {:.0f} % within a minute; "
      "rank correlation {:.2f}\n",
      value("jobs"), value("median_difference_s"), 100 * value("within_a_minute"), value("rank_correlation"));
}

JsonValue json_of(const Case& of, const Comparison& compared) {
  JsonValue json = {{"case", of.name},
                    {"figure", compared.figure},
                    {"measured", compared.measured},
                    {"simulated", compared.simulated}};
  if (compared.has_error()) { json["error"] = compared.error(); }
  return json;
}

/// What a case comes to, as lines and as JSON.
class FigureReport {
 public:
  FigureReport(const Case& of, std::optional<Ratio> limit, ResultSink& sink) : of_(of), limit_(limit), sink_(sink) {}

  void add(const Comparison& compared, bool has_limit) {
    sink_.print(line_of(compared));
    list.push_back(json_of(of_, compared));
    if (!compared.has_error() || !has_limit) { return; }
    const std::string what = fmt::format("|error| of {}", compared.figure);
    passed = is_within(limit_, std::abs(compared.error()), what, sink_) && passed;
  }

  std::vector<JsonValue> list;
  bool passed = true;

 private:
  const Case& of_;
  std::optional<Ratio> limit_;
  ResultSink& sink_;
};

void report(const Case& of, const Reference& reference, const VerifyOptions& options, const Record& record,
            ResultSink& sink, VerifiedFigures& found) {
  FigureReport lines(of, options.max_error ? options.max_error : reference.max_error, sink);
  for (const MeasuredFigure& each : reference.figures) {
    const Comparison compared = comparison_of(each, of, record);
    found.errors.push_back(compared.error());
    lines.add(compared, true);
  }
  if (const JsonValue* const waits = record.find(kLoggedWaits)) {
    const std::vector<Comparison> all = waits_of(*waits);
    for (const Comparison& each : all) { lines.add(each, &each == &all.front()); }
    sink.print(waits_text(*waits));
  }
  found.passed = lines.passed && found.passed;
  sink.add_list("figures", std::move(lines.list));
}

}  // namespace

bool has_measured_figures(const Case& scenario_case) {
  const std::optional<Reference> reference = scenario_case.experiment->reference();
  return reference && (!reference->figures.empty() || reference->logged_waits);
}

VerifiedFigures verify_figures(const Scenario& scenario, const VerifyOptions& options, const Streams& streams,
                               ResultSink& sink) {
  VerifiedFigures found;
  bool any = false;
  for (const Case& each : scenario.cases) {
    if (!has_measured_figures(each)) { continue; }
    const Reference reference = *each.experiment->reference();
    for (const std::string& warning : warnings_of(each)) { sink.warn_of(warning); }
    sink.print((any ? "\n" : "") + heading_of(scenario, each).text() + figures_table().head());
    any = true;
    found.interrupted =
        !run_case(scenario, each, run_options_of(options.scenario), options.common, streams, [&](Record record) {
          report(each, reference, options, record, sink, found);
          sink.add(each, std::move(record));
        });
    if (found.interrupted) { return found; }
  }
  if (found.errors.size() < 2) { return found; }
  std::vector<double> sizes;
  for (const double each : found.errors) { sizes.push_back(std::abs(each)); }
  std::sort(sizes.begin(), sizes.end());
  sink.print(fmt::format("# {} figures: |error| {:.1f} % in the median, {:.1f} % at most\n", sizes.size(),
                         100 * percentile(sizes, 50), 100 * sizes.back()));
  return found;
}

}  // namespace athanor
