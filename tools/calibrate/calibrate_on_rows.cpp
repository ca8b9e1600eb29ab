#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/software/software_pool.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/anchors/given_rows.hpp"
#include "tools/calibrate/anchors/row_checks.hpp"
#include "tools/calibrate/anchors/row_fit.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/pool/stack_cases.hpp"
#include "tools/calibrate/pool/stack_profile.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/streams.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

GivenRows rows_of(const CalibrateOptions& options, const CollectiveSetup& setup) {
  if (!options.rows_file) { return given_rows(options.rows, setup); }
  return read_given_rows(*options.rows_file, options.common.library.files(), setup);
}

/// The collective of a case as rows are given of it.
Tables::MeasuredCase measured_case(const Scenario& scenario) {
  const auto* collective = scenario.cases.front().as<CollectiveExperiment>();
  if (collective == nullptr) {
    throw UsageError(
        fmt::format("calibrate: {}: rows are times of one collective, and this simulates none; one measured step of "
                    "a training is --step TIME",
                    scenario.path));
  }
  return {scenario.cases.front().platform, collective->setup()};
}

/// With what a table says of itself; who drives GPUs is as the scenario's profile has it where rows do not tell.
void attach(const GivenRows& rows, Tables::MeasuredCase& measured) {
  constexpr std::uint32_t kCallsOfNcclTests = 20;
  Measurement measurement = rows.measurement;
  const NcclCosts& costs = *measured.platform.profile->nccl;
  if (rows.file.empty() && costs.host_launch_per_gpu > Time::zero()) {
    measurement.software_facts.emplace_back("gpus_per_process",
                                            std::int64_t{measured.platform.cluster->endpoints_per_node});
  }
  const bool looped = measurement.kind == "nccl-tests" && measured.setup.calls == 1 && !measured.setup.compute;
  if (looped) { measured.setup.calls = kCallsOfNcclTests; }
  measured.setup.verification.emplace().measurement = std::move(measurement);
}

/// One that says a transport and a version alone has none.
bool has_times(const Profile& profile) {
  return std::any_of(figures().begin(), figures().end(),
                     [&](const Figure& each) { return each.unit == FigureUnit::time && each.get(profile) > 0; });
}

/// A profile that the scenario names or writes is what the rows move; without one, what a pool expects of such parts.
StackCase stack_of(const Tables::MeasuredCase& measured) {
  StackCase stack = stack_cases({{measured}, {}}).front();
  const std::uint32_t nodes = nodes_of(*measured.platform.cluster, measured.setup.ranks);
  const Profile& profile = measured.platform.profile->on_nodes(nodes);
  if (profile.pooled || !profile.nccl || !has_times(profile)) { return stack; }
  stack.begins_with = std::make_shared<const Profile>(profile);
  stack.choosing = profile.nccl->choosing;
  return stack;
}

std::string beginning_of(const RowCase& of) {
  return of.stack.begins_with ? fmt::format("profile {}", of.stack.begins_with->name) : of.pool.name;
}

/// At most eight, from the smallest to the largest.
std::vector<Bytes> shown(const std::vector<Bytes>& sizes) {
  constexpr std::size_t kMost = 8;
  if (sizes.size() <= kMost) { return sizes; }
  std::vector<Bytes> some;
  for (std::size_t i = 0; i < kMost; ++i) { some.push_back(sizes[i * (sizes.size() - 1) / (kMost - 1)]); }
  return some;
}

std::string interval(const ExpectedTime& time) {
  return fmt::format("{:>10.4g} ({:.4g} to {:.4g})", time.time_us, time.time_us / time.factor(),
                     time.time_us * time.factor());
}

std::string row_lines(const GivenRows& rows, const RowFit& fit) {
  std::string text = "# times in us, with what eight in ten are between\n";
  text += fmt::format("# {:>10} {:>10}  {:<36} {:<36}\n", "size", "measured", "    before", "    after");
  const auto line = [&](const SizeChange& each, const std::string& measured) {
    text += fmt::format("# {:>10} {:>10}  {:<36} {:<36}\n", to_string(each.size), measured, interval(each.before),
                        interval(each.after));
  };
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    line(fit.rows[i], fmt::format("{:.4g}", rows.points[i].time_us));
  }
  for (const SizeChange& each : fit.sizes) { line(each, "-"); }
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const double met = rows.file.empty() ? 0.03 : 0.1;  // a table has noise of its own
    const double off = fit.rows[i].after.time_us / rows.points[i].time_us - 1;
    if (std::abs(off) < met) { continue; }
    text += fmt::format("# not met: {}; it is simulated {:+.1f} % off\n", rows.name(rows.points[i]), off * 100);
  }
  for (const std::string& each : rows.left_out) { text += fmt::format("# left out: {}\n", each); }
  return text;
}

/// A figure that the rows moved, or made more certain.
struct Moved {
  const Figure* figure = nullptr;
  double before = 0;
  double after = 0;
  double spread_before = 0;
  double spread_after = 0;
};

/// What such stacks hardly ever have: the machine is perhaps another one than the scenario says.
std::string unusual_lines(const PooledModel& model, const RowFit& fit) {
  constexpr double kUnusual = 2.5;  // standard deviations of what is expected
  std::string text;
  for (std::size_t i = 0; i < fit.mode.size(); ++i) {
    const double far = std::abs(fit.mode[i]) / fit.before[i];
    if (far < kUnusual) { continue; }
    text += fmt::format(
        "# unusual: {} is {:.1f} standard deviations from what such stacks have: is the machine as the scenario has "
        "it, its links, NICs and placement of ranks included?\n",
        figures()[model.effects()[i].figures.front()].name, far);
  }
  return text;
}

std::vector<Moved> moved(const PooledModel& model, const RowFit& fit) {
  constexpr double kMoved = 0.02;    // of a logarithm
  constexpr double kNarrower = 0.9;  // of the spread before
  const Profile before = model.profile(0, std::vector<double>(fit.mode.size()));
  const Profile after = model.profile(0, fit.mode);
  std::vector<Moved> result;
  for (std::size_t i = 0; i < fit.mode.size(); ++i) {
    if (std::abs(fit.mode[i]) < kMoved && fit.after[i] > kNarrower * fit.before[i]) { continue; }
    const Figure& figure = figures()[model.effects()[i].figures.front()];
    result.push_back({&figure, figure.get(before), figure.get(after), fit.before[i], fit.after[i]});
  }
  std::stable_sort(result.begin(), result.end(), [](const Moved& a, const Moved& b) {
    return a.spread_after / a.spread_before < b.spread_after / b.spread_before;
  });
  return result;
}

std::string figure_lines(const std::vector<Moved>& figures) {
  std::string text = fmt::format("# {:<24} {:>12} {:>12}  {:>14}\n", "figure", "before", "after", "spread in %");
  for (const Moved& each : figures) {
    text += fmt::format("# {:<24} {:>12} {:>12}  {:>5.0f} -> {:>4.0f}\n", each.figure->name,
                        figure_text(*each.figure, each.before), figure_text(*each.figure, each.after),
                        each.spread_before * 100, each.spread_after * 100);
  }
  return text;
}

Json json_of(const std::vector<Moved>& figures) {
  Json list = Json::list();
  for (const Moved& each : figures) {
    list.push_back({{"figure", each.figure->name},
                    {"before", figure_text(*each.figure, each.before)},
                    {"after", figure_text(*each.figure, each.after)},
                    {"spread_before", each.spread_before},
                    {"spread_after", each.spread_after}});
  }
  return list;
}

Json json_of(const GivenRows& rows, const RowFit& fit) {
  Json list = Json::list();
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    list.push_back({{"bytes", fit.rows[i].size.count()},
                    {"measured_us", rows.points[i].time_us},
                    {"before_us", fit.rows[i].before.time_us},
                    {"after_us", fit.rows[i].after.time_us}});
  }
  return list;
}

/// A row that a user vouches for and that no figures within their bounds meet is not fitted silently.
void check_met(const GivenRows& rows, const RowFit& fit) {
  constexpr double kMet = 0.1;
  Problems problems;
  for (std::size_t i = 0; i < fit.rows.size() && rows.file.empty(); ++i) {
    const double off = fit.rows[i].after.time_us / rows.points[i].time_us - 1;
    if (std::abs(off) < kMet) { continue; }
    problems.add(
        {"row-not-met",
         fmt::format("{}: the nearest that figures of such a stack come to, beside the other rows, is {:.4g} us",
                     rows.name(rows.points[i]), fit.rows[i].after.time_us),
         {},
         "is it of the scenario's machine, collective and algorithm?"});
  }
  problems.throw_if_any();
}

std::vector<double> expected_us(const RowCase& of, const std::vector<TablePoint>& points) {
  PooledModel model = model_of(of, points);
  std::vector<double> result;
  for (const double residual : model.residuals(std::vector<double>(model.effects().size()))) {
    result.push_back(points[result.size()].time_us * std::exp(residual));
  }
  return result;
}

Json profile_of(const CalibrateOptions& options, const RowCase& of, const GivenRows& rows, const RowFit& fit) {
  const PooledModel model = model_of(of, rows.points);
  Profile profile = model.profile(0, fit.mode);
  profile.transport = of.stack.parts.transport;
  profile.nccl->version = of.measured.setup.nccl->communicator().version;
  HeldOutResiduals residuals;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    residuals.front().push_back(std::log(fit.rows[i].after.time_us / rows.points[i].time_us));
  }
  const StackNote note{
      profile_name(options),
      fmt::format("athanor calibrate {}, beginning with: {}", rows.file.empty() ? "--row" : "--rows", beginning_of(of)),
      calibration_date(), calibration_versions()};
  Json json = stack_profile(std::move(profile), model.tables(), residuals, note);
  json["description"] = fmt::format("moved by {} given row{}; before: {}", rows.points.size(),
                                    rows.points.size() == 1 ? "" : "s", beginning_of(of));
  json["calibration"]["rows"] = json_of(rows, fit);
  json["calibration"]["figures"] = json_of(moved(model, fit));
  return json;
}

}  // namespace

ExitCode calibrate_on_rows(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  const Scenario scenario = scenario_of_one_case(options);
  Tables::MeasuredCase measured = measured_case(scenario);
  const GivenRows rows = rows_of(options, measured.setup);
  if (!measured.setup.nccl) { stack_cases({{measured}, {}}); }  // says what is missing
  attach(rows, measured);
  const SoftwarePool pool = expected_of_stacks(options);
  const StackCase stack = stack_of(measured);
  check_outputs(options.common);
  const RowCase of{std::move(measured), stack, pool};
  const RowClaims claims{scenario.path, options.nics};
  Problems problems;
  check_machine(rows, of.measured, claims, problems);
  problems.throw_if_any();
  check_times(rows, of.measured, expected_us(of, rows.points), claims, problems);
  problems.throw_if_any();

  Progress progress(streams, !options.common.quiet);
  progress.show("calibrating: what the rows tell");
  const RowFit fit = fit_rows(of, rows.points, shown(of.measured.setup.sizes));
  progress.clear();
  check_met(rows, fit);
  const PooledModel model = model_of(of, rows.points);
  write_profile(options, streams, profile_of(options, of, rows, fit),
                fmt::format("# before: {}\n", beginning_of(of)) + figure_lines(moved(model, fit)) +
                    unusual_lines(model, fit) + row_lines(rows, fit));
  return ExitCode::ok;
}

}  // namespace athanor
