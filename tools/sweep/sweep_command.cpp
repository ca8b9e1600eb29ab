#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/core.h>

#include "models/experiments/scenario/digest.hpp"
#include "sim/config/json_value.hpp"
#include "sim/file.hpp"
#include "sim/printable.hpp"
#include "sim/words.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/cli/version.hpp"
#include "tools/sweep/conduct.hpp"
#include "tools/sweep/export.hpp"
#include "tools/sweep/table.hpp"

namespace athanor {

namespace {

constexpr std::size_t kMostLines = 60;

struct SweepOptions {
  CommonOptions common;
  ScenarioOptions scenario;
  std::vector<std::string> vary;
  std::optional<std::string> output, jsonl;
  std::optional<std::uint32_t> jobs;
  std::uint32_t most_points = 100'000;  ///< more are refused: a slip of the finger makes millions
  bool resume = false;
  bool retry_failed = false;
  bool overwrite = false;
  bool dry_run = false;
};

void visit(OptionFields& fields, SweepOptions& options) {
  visit(fields, options.scenario);
  fields.texts("vary", "/POINTER=VALUES", options.vary,
               "what is varied: 1,2,4 or 8..1024 (doubled) or 1..9+2 or 1..1000*10; linked by ';'; repeatable");
  fields.written_file("output,o", options.output,
                      "the sweep's file (SQLite); default: the scenario's name with .sqlite, in this folder");
  fields.flag("resume", options.resume, "goes on with the sweep in the file, where there is one");
  fields.flag("retry-failed", options.retry_failed, "with --resume: points that failed, too");
  fields.flag("overwrite", options.overwrite, "begins anew where the file exists");
  fields.number("jobs,j", "N", options.jobs, 1,
                "points at a time in each process; default: one for each processor, under mpirun one");
  fields.number("most-points", "N", options.most_points, 1, "allows so many; default: 100000");
  fields.flag("dry-run", options.dry_run, "says what would be simulated");
  fields.written_file("jsonl", options.jsonl, "results as JSON, one a line");
}

std::vector<SweepAxis> axes_of(const SweepOptions& options, const Scenario& scenario) {
  std::vector<SweepAxis> asked;
  for (const std::string& text : options.vary) { asked.push_back(parse_axis(text)); }
  if (const std::string twice = set_twice(asked); !twice.empty()) {
    throw UsageError(
        fmt::format("sweep: two --vary set {}; give all its values to one, as in --vary {}=1,2,3,4", twice, twice));
  }
  std::vector<SweepAxis> axes = joined(scenario.sweep, std::move(asked));
  if (axes.empty()) {
    throw UsageError(
        fmt::format("sweep: {} varies nothing; give it a \"sweep\", or this command --vary /collective/ranks=8..64",
                    scenario.path));
  }
  return axes;
}

/// The scenario with the first step of every axis. Throws where a pointer leads to nothing that scenarios have; what
/// else is wrong at this point will be its outcome.
Scenario first_point(const std::string& path, const Library& library, ScenarioChanges changes,
                     const std::vector<SweepAxis>& axes, bool needed) {
  const SweepPlan first{{""}, axes};
  std::vector<std::string> settings = first.settings(first.point(0));
  changes.settings.insert(changes.settings.end(), settings.begin(), settings.end());
  Problems problems;
  try {
    Scenario scenario = read_scenario(path, library, changes, problems);
    std::vector<Problem> unknown = problems.list();
    std::erase_if(unknown, [&](const Problem& each) {
      return !needed && (each.code != "unknown-key" || each.place.file != "--set");
    });
    for (Problem& each : unknown) {
      if (each.place.file == "--set") { each.place.file = "what the sweep varies"; }
    }
    if (!unknown.empty()) { throw ScenarioError(std::move(unknown)); }
    return scenario;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("sweep: a parameter leads nowhere: {}", error.what()));
  }
}

/// The scenario with its cases, however the first step may stand to it.
Scenario readable(const std::string& path, const SweepOptions& options, const ScenarioChanges& changes,
                  std::vector<SweepAxis>& axes) {
  Problems problems;
  Scenario scenario = read_scenario(path, options.common.library, changes, problems);
  if (scenario.sweep.empty() && options.vary.empty()) { problems.throw_if_any(); }
  axes = axes_of(options, scenario);
  Scenario first = first_point(path, options.common.library, changes, axes, !problems.empty());
  check_outputs(options.common);
  return problems.empty() ? scenario : first;
}

void check_number(const SweepPlan& plan, std::uint64_t most) {
  if (plan.points() <= most) { return; }
  std::vector<std::string> sizes;
  for (const SweepAxis& axis : plan.axes) { sizes.push_back(fmt::format("{} of {}", axis.size(), axis.title())); }
  throw UsageError(
      fmt::format("sweep: {} points ({} cases, {}) are more than {}; vary less, or allow them with "
                  "--most-points {}",
                  plan.points() == kMostPoints ? "more than 10^15" : fmt::format("{}", plan.points()),
                  plan.cases.size(), joined(sizes, ", "), most, plan.points()));
}

SweepOrder order_of(const std::string& path, const SweepOptions& options) {
  SweepOrder order{path, {}, {}, changes_of(options.scenario), run_options_of(options.scenario), options.common};
  const Scenario scenario = readable(path, options, order.changes, order.plan.axes);
  for (const Case& each : scenario.cases) {
    order.plan.cases.push_back(each.name);
    order.cases.push_back(each.place);
  }
  order.changes.cases.clear();  // the plan names them
  check_number(order.plan, options.most_points);
  return order;
}

std::string folder_of(const std::string& scenario) {
  return std::filesystem::path(canonical_path(scenario)).parent_path().string();
}

SweepIdentity identity_of(const SweepOrder& order, const SweepOptions& options) {
  JsonValue changes = {{"set", order.changes.settings}};
  if (options.scenario.sizes) { changes["sizes"] = *options.scenario.sizes; }
  if (options.scenario.seed) { changes["seed"] = *options.scenario.seed; }
  SweepIdentity identity{.scenario = order.path,
                         .scenario_hash = "",
                         .scenario_text = order.common.library.files().text(order.path),
                         .version = fmt::format("{} {}", version(), git_revision()),
                         .changes = text_of(changes),
                         .plan = order.plan,
                         .folder = folder_of(order.path),
                         .data = canonical_path(order.common.library.directory())};
  identity.scenario_hash = text_hash(identity.scenario_text);
  return identity;
}

std::string output_of(const SweepOptions& options) {
  if (options.output) { return *options.output; }
  return std::filesystem::path(options.common.arguments.front()).stem().string() + ".sqlite";
}

SweepDatabase open(const SweepOrder& order, const SweepOptions& options) {
  const std::string path = output_of(options);
  const bool exists = std::filesystem::exists(path);
  if (exists && options.resume) {
    SweepDatabase database(path, SqliteFile::Access::write);
    database.require_same(identity_of(order, options));
    if (options.retry_failed) { database.forget_failed(); }
    return database;
  }
  if (exists && !options.overwrite) {
    throw FileError(fmt::format(
        "{} exists; go on with it with --resume, begin anew with --overwrite, or choose another file with -o", path));
  }
  if (exists) { SweepDatabase(path, SqliteFile::Access::read); }  // what is no sweep is not overwritten
  SweepDatabase::create(path, identity_of(order, options));
  return SweepDatabase(path, SqliteFile::Access::write);
}

/// As many as are asked for, but no more than there are points.
std::uint32_t threads_of(const SweepOrder& order, const SweepOptions& options, const SweepWorkers& workers) {
  const std::uint32_t processors = workers.processes() > 1 ? 1 : std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t asked = options.jobs.value_or(processors);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(asked, 1, std::max<std::uint64_t>(1, order.plan.points())));
}

std::string plan_text(const SweepOrder& order) {
  std::string text = fmt::format("# {}: {} points\n", printable(order.path), order.plan.points());
  if (order.plan.cases.size() > 1) {
    text += fmt::format("#   case: {}\n", printable(fmt::format("{}", joined(order.plan.cases, ", "))));
  }
  for (const SweepAxis& axis : order.plan.axes) {
    std::vector<std::string> labels;
    constexpr std::size_t kShown = 12;
    for (std::size_t i = 0; i < std::min(axis.size(), kShown); ++i) { labels.push_back(axis.label(i)); }
    if (axis.size() > kShown) { labels.push_back(fmt::format("... ({} in all)", axis.size())); }
    text += fmt::format("#   {} ({}): {}\n", printable(axis.title()), joined(axis.pointers, ", "),
                        printable(fmt::format("{}", joined(labels, " | "))));
  }
  return text;
}

std::string end_text(const SweepCount& count, const std::string& path) {
  std::string text = fmt::format("# {} points: {} simulated", count.points, count.simulated);
  if (count.before > 0) { text += fmt::format(", {} were there", count.before); }
  if (count.failed > 0) { text += fmt::format(", {} failed", count.failed); }
  return text + fmt::format("; in {}\n", path);
}

ExitCode lead(const SweepOrder& order, const SweepOptions& options, SweepWorkers& workers, const Streams& streams) {
  const OutputChoice output(options.common.json, options.scenario.csv, streams);
  SweepDatabase database = open(order, options);
  database.add_inputs(InputsRead(options.common.library.files())
                          .fresh());  // what the first point rests on: refused now rather than later
  const SweepCount count = conduct(order, threads_of(order, options, workers), workers, database, streams);
  output.print(version_line() + plan_text(order) + sweep_table(database, kMostLines) +
               end_text(count, output_of(options)));
  output.write_json([&] { return sweep_json(database, options.common.command_line, count.interrupted); });
  output.write_csv([&] { return sweep_csv(database); });
  if (options.jsonl) { write_sweep_lines(database, *options.jsonl); }
  if (count.interrupted) {
    complain(streams, "interrupted: --resume goes on");
    return ExitCode::interrupted;
  }
  if (count.failed > 0) {
    complain(streams, fmt::format("{} of {} points failed, the first one with: {}", count.failed, count.simulated,
                                  count.first_error));
    return ExitCode::simulation_failed;
  }
  return ExitCode::ok;
}

ExitCode sweep(const SweepOptions& options, const Streams& streams) {
  if (options.retry_failed && !options.resume) { throw UsageError("sweep: --retry-failed goes with --resume"); }
  const SweepOrder order = order_of(options.common.arguments.front(), options);
  if (options.dry_run) {
    streams.out(printable_lines(plan_text(order)));
    return ExitCode::ok;
  }
  const std::unique_ptr<SweepWorkers> workers = sweep_workers();
  if (workers->leads()) { return lead(order, options, *workers, streams); }
  workers->work(order, threads_of(order, options, *workers), streams.interrupted);
  return ExitCode::ok;
}

}  // namespace

Command sweep_command() {
  return {
      .name = "sweep",
      .summary = "simulates a scenario with every combination of the parameters that it varies",
      .arguments = "SCENARIO",
      .explanation =
          "What is varied stands in the scenario's \"sweep\", in --vary, or in both. Every point that is simulated\n"
          "goes into an SQLite file at once; --resume goes on after an interruption. A point that fails is recorded\n"
          "with its error. Under mpirun or srun all processes share the points.\n",
      .example = "athanor sweep scenarios/sweeps/eight_gpus.json --vary /collective/ranks=2..8 -o ranks.sqlite",
      .least_arguments = 1,
      .most_arguments = 1,
      .prepare = &prepared<SweepOptions, &sweep>};
}

}  // namespace athanor
