#include <algorithm>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/version.hpp"

namespace athanor {

namespace {

/// Throws UsageError for options that some backends alone have.
void check_owners(const CalibrateOptions& options, std::string_view backend) {
  struct Owned {
    bool given;
    const char* name;
    std::vector<std::string> backends;
  };
  for (const Owned& each :
       {Owned{options.profile.has_value(), "profile", {"training"}},
        Owned{options.free.has_value(), "free", {"training"}}, Owned{options.pool.has_value(), "pool", {"tables"}},
        Owned{options.profiles.has_value(), "profiles", {"pool"}},
        Owned{options.residuals.has_value(), "residuals", {"pool"}},
        Owned{options.hold_out.has_value(), "hold-out", {"pool", "training", "steps"}}}) {
    if (!each.given || std::count(each.backends.begin(), each.backends.end(), backend) > 0) { continue; }
    throw UsageError(fmt::format("calibrate: --{} goes with --backend {}", each.name, joined(each.backends, " and ")));
  }
}

/// Whether rows or a step of a scenario are given.
bool has_anchors(const CalibrateOptions& options) {
  return !options.rows.empty() || options.rows_file || options.step || options.nics ||
         !options.common.arguments.empty();
}

/// Throws UsageError for what does not go with rows or a step, or is missing.
void check_anchor_options(const CalibrateOptions& options) {
  const auto refuse = [](bool given, const std::string& why) {
    if (given) { throw UsageError("calibrate: " + why); }
  };
  const int ways = (options.rows.empty() ? 0 : 1) + (options.rows_file ? 1 : 0) + (options.step ? 1 : 0);
  refuse(ways == 0 || options.common.arguments.empty(),
         "SCENARIO goes with what was measured of it: --row SIZE=TIME, --rows FILE or --step TIME");
  refuse(ways > 1, "--row, --rows and --step do not go together; calibrate on one of them");
  refuse(options.step && (options.pool || options.nics), "--pool and --nics go with --row or --rows");
  refuse(!options.step && (options.profile || options.free),
         "--profile and --free go with --step, or with --backend training");
  refuse(!options.output,
         "--output is missing, as in `athanor calibrate SCENARIO --row 8B=31us --output profile.json`");
  for (const auto& [given, name] :
       {std::pair(options.backend.has_value(), "backend"), std::pair(!options.tables.empty(), "tables"),
        std::pair(options.refit.has_value(), "refit"), std::pair(options.quick, "quick"),
        std::pair(!options.ranks.empty(), "ranks"), std::pair(options.cluster.has_value(), "cluster"),
        std::pair(options.profiles.has_value(), "profiles"), std::pair(options.residuals.has_value(), "residuals"),
        std::pair(options.hold_out.has_value(), "hold-out")}) {
    refuse(given, fmt::format("--{} does not go with --row, --rows and --step", name));
  }
}

/// Throws UsageError for what goes with another backend.
void check_options(const CalibrateOptions& options, std::string_view backend) {
  const bool ranks = !options.ranks.empty();
  const bool published = backend == "tables" || backend == "pool" || backend == "training" || backend == "steps";
  const auto refuse = [](bool given, const std::string& why) {
    if (given) { throw UsageError("calibrate: " + why); }
  };
  refuse(!options.output, "--output is missing, as in `athanor calibrate --output profile.json`");
  for (const auto& [given, name] : {std::pair(ranks, "ranks"), std::pair(options.quick, "quick")}) {
    refuse(options.refit && given, fmt::format("--{} says what to measure, and --refit measures nothing", name));
  }
  refuse(backend == "mpi" && ranks, "--ranks: the backend mpi has one rank per process; start as many with mpirun");
  refuse(backend == "cuda" && ranks, "--ranks: the backend cuda chooses its own, by what fits on a GPU");
  refuse(published == options.tables.empty(),
         "--backend tables, pool, training or steps and --tables SCENARIO go together");
  check_owners(options, backend);
  for (const auto& [given, name] : {std::pair(ranks, "ranks"), std::pair(options.refit.has_value(), "refit")}) {
    refuse(published && given, fmt::format("--{} means nothing to --backend {}", name, backend));
  }
  refuse(backend != "mpi" && !published && options.cluster,
         "--cluster says what lies between MPI processes; it goes with --backend mpi");
}

/// What each backend does.
constexpr std::pair<std::string_view, ExitCode (*)(const CalibrateOptions&, const Streams&)> kBackends[] = {
    {"threads", &calibrate_threads},  {"mpi", &calibrate_over_mpi}, {"cuda", &calibrate_on_gpus},
    {"tables", &calibrate_on_tables}, {"pool", &calibrate_pool},    {"training", &calibrate_on_training},
    {"steps", &calibrate_steps}};

ExitCode calibrate(const CalibrateOptions& options, const Streams& streams) {
  if (has_anchors(options)) {
    check_anchor_options(options);
    return options.step ? calibrate_on_step(options, streams) : calibrate_on_rows(options, streams);
  }
  const std::string backend = options.backend.value_or("threads");
  std::vector<std::string_view> known;
  for (const auto& [name, carry_out] : kBackends) {
    known.push_back(name);
    if (name != backend) { continue; }
    check_options(options, backend);
    return carry_out(options, streams);
  }
  throw UsageError(
      fmt::format("calibrate: there is no backend '{}' to calibrate; choose from {}", backend, joined(known, ", ")));
}

}  // namespace

void visit(OptionFields& fields, CalibrateOptions& options) {
  fields.text(
      "backend", "NAME", options.backend,
      "what is calibrated: threads, mpi (under mpirun), cuda, a stack from measured tables (tables), what all "
      "stacks have in common (pool), computing from measured training (training), or what all measured training "
      "has in common (steps); absent: threads");
  fields.texts(
      "tables", "SCENARIO", options.tables,
      "with tables: a scenario whose cases name the measurements of one stack; with pool: of any; with training and "
      "steps: one whose steps were measured; may be given again");
  fields.texts("row", "SIZE=TIME", options.rows,
               "of SCENARIO: one measured time, as in 8B=31us, that its profile is to meet; may be given again");
  fields.text("rows", "FILE", options.rows_file,
              "of SCENARIO: the same from what nccl-tests, rccl-tests or OSU's benchmarks printed, or from a "
              "measurement file");
  fields.number("nics", "N", options.nics, 1,
                "of each node, that rows were measured with; asked for where it is not clear");
  fields.quantity("step", "TIME", options.step, &parse_time, "of SCENARIO, a training: what one step took");
  fields.text("profile", "NAME", options.profile,
              "with training and --step: where the search starts, a name or a file; absent: the first case's");
  fields.text(
      "pool", "NAME", options.pool,
      "with tables and rows: what is expected of a stack before its rows are looked at, a name or a file; absent: "
      "the library's nccl, or where it has none what is assumed of every stack");
  fields.text("profiles", "DIRECTORY", options.profiles, "with pool: writes the profile of every stack there");
  fields.written_file(
      "residuals", options.residuals,
      "with pool: writes there, as CSV, how far every row is off, fitted and held out, and its interval");
  fields.words("free", "NAMES", options.free,
               "with training: figures to find, such as gemm.share; absent: what is told, 8 at most; with --step one, "
               "absent: gemm.share, or of a training without \"compute\" all that the pool of steps is uncertain of");
  fields.words(
      "hold-out", "WHAT", options.hold_out,
      "also fit without these, and judge them; with pool: sizes (every other one), tables, stacks, two (all but "
      "two rows of a stack), collectives; with training: rows, models; with steps: steps (every other one), models, "
      "one (all but one step), software");
  fields.text("cluster", "SCENARIO", options.cluster,
              "with mpi: what lies between the processes, one for each endpoint; absent: one fast switch");
  fields.texts("case", "NAME", options.scenario.cases, "of that scenario, of --tables or of SCENARIO");
  fields.numbers("ranks", "NUMBERS", options.ranks, 2, "of the collectives that are run; absent: 2,4,8");
  fields.written_file("output,o", options.output, "the profile; required");
  fields.flag("quick", options.quick, "each probe in one turn instead of five: less certain");
  fields.text("refit", "FILE", options.refit, "measure nothing: fit again what this profile was fitted on");
}

bool holds_out(const CalibrateOptions& options, const std::string& what, const std::vector<std::string>& known) {
  if (!options.hold_out) { return false; }
  for (const std::string& word : *options.hold_out) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError(fmt::format("calibrate: --hold-out: '{}' is none of {}", word, joined(known, ", ")));
    }
  }
  return std::find(options.hold_out->begin(), options.hold_out->end(), what) != options.hold_out->end();
}

Scenario scenario_of_one_case(const CalibrateOptions& options) {
  Scenario scenario =
      read_scenarios(options.common.arguments, options.common.library, changes_of(options.scenario)).front();
  if (scenario.cases.size() == 1) { return scenario; }
  throw UsageError(fmt::format("calibrate: {} has {} cases; name the one that was measured with --case", scenario.path,
                               scenario.cases.size()));
}

std::string calibration_date() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

std::string calibration_versions() { return fmt::format("{}, {}", program_version(), compiler()); }

std::string profile_name(const CalibrateOptions& options) {
  return options.output ? std::filesystem::path(*options.output).stem().string() : "this machine";
}

std::string error_lines(const std::vector<TimedProbe>& probes) {
  const auto line = [&](const char* what, Probe::Purpose purpose) {
    const FitError error = error_of(probes, purpose);
    return fmt::format("# {:<8} {:>4} probes, median |error| {:.1f} %, worst {:.1f} %\n", what, error.points,
                       error.median * 100, error.worst * 100);
  };
  return line("fitted", Probe::Purpose::fit) + line("held out", Probe::Purpose::hold_out);
}

void write_profile(const CalibrateOptions& options, const Streams& streams, const JsonValue& profile,
                   const std::string& summary) {
  const std::string text = text_of(profile, 2) + "\n";
  write_text_file(*options.output, text);
  if (options.common.json) {
    write_json(options.common, streams, text);
  } else {
    streams.out(summary);
  }
}

Command calibrate_command() {
  return {
      .name = "calibrate",
      .summary = "fits a profile of this machine from micro-measurements",
      .arguments = "[SCENARIO]",
      .explanation =
          "Measures copies, exchanges of two ranks and collectives other than all-reduce, on threads of this\n"
          "process, on its GPUs, or, under mpirun, with one rank in each MPI process,\n"
          "finds the costs with which the model takes as long, holds it against collectives of sizes that it has not\n"
          "seen, and writes all that as a profile. Nothing else should run on the machine meanwhile. A profile holds\n"
          "every time that was measured, so that anybody can fit it again (--refit).\n"
          "A few times that are known of a SCENARIO (--row, --rows, --step) move what they tell of its profile, and no "
          "more:\nwhat became of the figures and of the scenario's times is printed, with how certain they are.\n",
      .example = "athanor calibrate --output this-machine.json",
      .least_arguments = 0,
      .most_arguments = 1,
      .prepare = &prepared<CalibrateOptions, &calibrate>};
}

}  // namespace athanor
