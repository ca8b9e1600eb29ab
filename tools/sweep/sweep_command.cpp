#include <algorithm>
#include <filesystem>
#include <thread>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>

#include "models/experiments/scenario/digest.hpp"
#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/file.hpp"
#include "sim/printable.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/inputs_read.hpp"
#include "tools/cli/machine_readable.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/output_choice.hpp"
#include "tools/cli/read_scenarios.hpp"
#include "tools/cli/version.hpp"
#include "tools/sweep/conduct.hpp"
#include "tools/sweep/export.hpp"
#include "tools/sweep/table.hpp"

namespace athanor {

namespace {

/// More are refused unless they are allowed: a slip of the finger makes millions.
constexpr std::uint64_t kPointsByDefault = 100'000;
constexpr std::size_t kMostLines = 60;

boost::program_options::options_description sweep_options() {
  namespace options = boost::program_options;
  auto described = simulation_options();
  auto add = described.add_options();
  add("vary", options::value<std::vector<std::string>>()->value_name("/POINTER=VALUES"),
      "what is varied: 1,2,4 or 8..1024 (doubled) or 1..9+2 or 1..1000*10; linked by ';'; repeatable");
  add("output,o", options::value<std::string>()->value_name("FILE"),
      "the sweep's file (SQLite); default: the scenario's name with .sqlite, in this folder");
  add("resume", "goes on with the sweep in the file, where there is one");
  add("retry-failed", "with --resume: points that failed, too");
  add("overwrite", "begins anew where the file exists");
  add("jobs,j", options::value<std::string>()->value_name("N"),
      "points at a time in each process; default: one for each processor, under mpirun one");
  add("most-points", options::value<std::string>()->value_name("N"), "allows so many; default: 100000");
  add("dry-run", "says what would be simulated");
  add("jsonl", options::value<std::string>()->value_name("FILE"), "results as JSON, one a line");
  return described;
}

std::uint64_t most_points(const Invocation& invocation) {
  return number_option("sweep", invocation, "most-points", 1).value_or(kPointsByDefault);
}

std::vector<SweepAxis> axes_of(const Invocation& invocation, const Scenario& scenario) {
  std::vector<SweepAxis> asked;
  if (invocation.has("vary")) {
    for (const std::string& text : invocation.options["vary"].as<std::vector<std::string>>()) {
      asked.push_back(parse_axis(text));
    }
  }
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
Scenario readable(const std::string& path, const Invocation& invocation, const ScenarioChanges& changes,
                  std::vector<SweepAxis>& axes) {
  Problems problems;
  Scenario scenario = read_scenario(path, invocation.library, changes, problems);
  if (scenario.sweep.empty() && !invocation.has("vary")) { problems.throw_if_any(); }
  axes = axes_of(invocation, scenario);
  Scenario first = first_point(path, invocation.library, changes, axes, !problems.empty());
  return problems.empty() ? scenario : first;
}

void check_number(const SweepPlan& plan, const Invocation& invocation) {
  if (plan.points() <= most_points(invocation)) { return; }
  std::vector<std::string> sizes;
  for (const SweepAxis& axis : plan.axes) { sizes.push_back(fmt::format("{} of {}", axis.size(), axis.title())); }
  throw UsageError(
      fmt::format("sweep: {} points ({} cases, {}) are more than {}; vary less, or allow them with "
                  "--most-points {}",
                  plan.points() == kMostPoints ? "more than 10^15" : fmt::format("{}", plan.points()),
                  plan.cases.size(), fmt::join(sizes, ", "), most_points(invocation), plan.points()));
}

SweepOrder order_of(const std::string& path, const Invocation& invocation) {
  SweepOrder order{path, {}, {}, changes_of(invocation), invocation};
  const Scenario scenario = readable(path, invocation, order.changes, order.plan.axes);
  for (const Case& each : scenario.cases) {
    order.plan.cases.push_back(each.name);
    order.cases.push_back(each.place);
  }
  order.changes.cases.clear();  // the plan names them
  check_number(order.plan, invocation);
  return order;
}

std::string folder_of(const std::string& scenario) {
  return std::filesystem::path(canonical_path(scenario)).parent_path().string();
}

SweepIdentity identity_of(const SweepOrder& order) {
  JsonValue changes = {{"set", order.changes.settings}};
  for (const char* option : {"sizes", "seed"}) {
    if (order.invocation.has(option)) { changes[option] = order.invocation.text(option); }
  }
  SweepIdentity identity{.scenario = order.path,
                         .scenario_hash = "",
                         .scenario_text = read_text_file(order.path),
                         .version = fmt::format("{} {}", version(), git_revision()),
                         .changes = text_of(changes),
                         .plan = order.plan,
                         .folder = folder_of(order.path),
                         .data = canonical_path(order.invocation.library.directory())};
  identity.scenario_hash = text_hash(identity.scenario_text);
  return identity;
}

std::string output_of(const Invocation& invocation) {
  if (invocation.has("output")) { return invocation.text("output"); }
  return std::filesystem::path(invocation.arguments.front()).stem().string() + ".sqlite";
}

SweepDatabase open(const SweepOrder& order) {
  const Invocation& invocation = order.invocation;
  const std::string path = output_of(invocation);
  const bool exists = std::filesystem::exists(path);
  if (exists && invocation.has("resume")) {
    SweepDatabase database(path, SqliteFile::Access::write);
    database.require_same(identity_of(order));
    if (invocation.has("retry-failed")) { database.forget_failed(); }
    return database;
  }
  if (exists && !invocation.has("overwrite")) {
    throw FileError(fmt::format(
        "{} exists; go on with it with --resume, begin anew with --overwrite, or choose another file with -o", path));
  }
  if (exists) { SweepDatabase(path, SqliteFile::Access::read); }  // what is no sweep is not overwritten
  SweepDatabase::create(path, identity_of(order));
  return SweepDatabase(path, SqliteFile::Access::write);
}

/// As many as are asked for, but no more than there are points.
std::uint32_t threads_of(const SweepOrder& order, const SweepWorkers& workers) {
  const std::uint32_t processors = workers.processes() > 1 ? 1 : std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t asked = number_option("sweep", order.invocation, "jobs", 1).value_or(processors);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(asked, 1, std::max<std::uint64_t>(1, order.plan.points())));
}

std::string plan_text(const SweepOrder& order) {
  std::string text = fmt::format("# {}: {} points\n", printable(order.path), order.plan.points());
  if (order.plan.cases.size() > 1) {
    text += fmt::format("#   case: {}\n", printable(fmt::format("{}", fmt::join(order.plan.cases, ", "))));
  }
  for (const SweepAxis& axis : order.plan.axes) {
    std::vector<std::string> labels;
    constexpr std::size_t kShown = 12;
    for (std::size_t i = 0; i < std::min(axis.size(), kShown); ++i) { labels.push_back(axis.label(i)); }
    if (axis.size() > kShown) { labels.push_back(fmt::format("... ({} in all)", axis.size())); }
    text += fmt::format("#   {} ({}): {}\n", printable(axis.title()), fmt::join(axis.pointers, ", "),
                        printable(fmt::format("{}", fmt::join(labels, " | "))));
  }
  return text;
}

std::string end_text(const SweepCount& count, const std::string& path) {
  std::string text = fmt::format("# {} points: {} simulated", count.points, count.simulated);
  if (count.before > 0) { text += fmt::format(", {} were there", count.before); }
  if (count.failed > 0) { text += fmt::format(", {} failed", count.failed); }
  return text + fmt::format("; in {}\n", path);
}

ExitCode lead(const SweepOrder& order, SweepWorkers& workers, const Streams& streams) {
  const Invocation& invocation = order.invocation;
  const OutputChoice output(invocation, streams);
  SweepDatabase database = open(order);
  database.add_inputs(inputs_read(invocation));  // what the first point rests on: refused now rather than later
  const SweepCount count = conduct(order, threads_of(order, workers), workers, database, streams);
  output.print(version_line() + plan_text(order) + sweep_table(database, kMostLines) +
               end_text(count, output_of(invocation)));
  output.write("json", [&] { return sweep_json(database, invocation.command_line, count.interrupted); });
  output.write("csv", [&] { return sweep_csv(database); });
  if (invocation.has("jsonl")) { write_sweep_lines(database, invocation.text("jsonl")); }
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

ExitCode sweep(const Invocation& invocation, const Streams& streams) {
  if (invocation.has("retry-failed") && !invocation.has("resume")) {
    throw UsageError("sweep: --retry-failed goes with --resume");
  }
  const SweepOrder order = order_of(invocation.arguments.front(), invocation);
  if (invocation.has("dry-run")) {
    streams.out(printable_lines(plan_text(order)));
    return ExitCode::ok;
  }
  const std::unique_ptr<SweepWorkers> workers = sweep_workers();
  if (workers->leads()) { return lead(order, *workers, streams); }
  workers->work(order, threads_of(order, *workers), streams.interrupted);
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
      .options = &sweep_options,
      .execute = &sweep};
}

}  // namespace athanor
