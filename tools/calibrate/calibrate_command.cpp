#include <algorithm>
#include <ctime>
#include <filesystem>
#include <thread>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "models/software/profile.hpp"
#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/profile_file.hpp"
#include "tools/calibrate/timing.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/output_file.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/version.hpp"
#include "tools/measure/machine.hpp"

namespace athanor {

namespace {

boost::program_options::options_description calibrate_options() {
  namespace options = boost::program_options;
  options::options_description result("options");
  auto add = result.add_options();
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  add("backend", text("NAME"),
      "what is calibrated: threads, mpi (under mpirun), cuda, a stack from measured tables, or computing from measured "
      "training; absent: threads");
  add("tables", options::value<std::vector<std::string>>()->value_name("SCENARIO"),
      "with tables: a scenario whose cases name the measurements of one stack; with training: one whose steps were "
      "measured; may be given again");
  add("profile", text("NAME"),
      "with tables or training: where the search starts, a name or a file; absent: the first case's");
  add("free", text("NAMES"),
      "with tables or training: figures to find, such as launch,LL.step or gemm.share; absent: what is told, 8 at "
      "most");
  add("choose", text("WORDS"),
      "with tables: tuner, algorithm, fastest: whose word may decide; absent: whichever fits best");
  add("hold-out", text("WHAT"),
      "with tables: sizes, tables (also fit without them, and judge them), anchors (what --profile predicts with its "
      "launch "
      "and its links fitted to the three smallest and the two largest sizes alone); with training: rows, models");
  add("cluster", text("SCENARIO"),
      "with mpi: what lies between the processes, one for each endpoint; absent: one fast switch");
  add("case", options::value<std::vector<std::string>>()->value_name("NAME"), "of that scenario, or of --tables");
  add("ranks", text("NUMBERS"), "of the collectives that are run; absent: 2,4,8");
  add("output,o", text("FILE"), "the profile; required");
  add("quick", "each probe in one turn instead of five: less certain");
  add("refit", text("FILE"), "measure nothing: fit again what this profile was fitted on");
  return result;
}

/// Of one processor, from the nearest on, as far as the system tells.
std::vector<Bytes> private_caches() {
  std::vector<Bytes> sizes;
  for (const int level : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const long size = sysconf(level);
    if (size > 0) { sizes.emplace_back(size); }
  }
  if (sizes.empty()) {
    throw SimulationError("no-caches", "the system does not tell the sizes of the caches, which calibrate needs");
  }
  return sizes;
}

std::vector<std::uint32_t> ranks_of(const Invocation& invocation) {
  std::vector<std::uint32_t> ranks;
  for (const std::string& word : words_of("calibrate", "ranks", invocation.text("ranks"))) {
    ranks.push_back(number_in("calibrate", "ranks", word, 2));
  }
  return ranks;
}

CalibrationNote note_of_today(const Invocation& invocation) {
  CalibrationNote note;
  note.machine = machine_id(this_machine());
  note.date = calibration_date();
  note.versions = calibration_versions();
  note.ranks = invocation.has("ranks") ? ranks_of(invocation) : std::vector<std::uint32_t>{2, 4, 8};
  note.fit.private_caches = private_caches();
  // Two workers tell all that the model knows of; more would only meet more noise.
  note.fit.processors = std::clamp(std::thread::hardware_concurrency(), 1U, 2U);
  return note;
}

std::string summary(const ThreadCosts& costs, const std::vector<TimedProbe>& probes) {
  std::string text = "# cache       rate       of another processor\n";
  for (const CacheLevel& level : costs.caches) {
    text += fmt::format("# {:<10} {:>5.1f} GB/s  {}\n", to_string(Bytes{level.size.count() / 1024 * 1024}),
                        gigabytes_per_second(level.rate),
                        level.shared ? "-" : fmt::format("{:.1f} GB/s", gigabytes_per_second(level.remote_rate)));
  }
  const auto line = [&](const char* name, Time cost) {
    text += fmt::format("# {:<16} {:>10.1f} ns\n", name, static_cast<double>(cost.count()) * 1e-3);
  };
  text += fmt::format("# memory     {:>5.1f} GB/s\n", gigabytes_per_second(costs.memory_rate));
  line("start", costs.start);
  line("meeting", costs.meeting);
  line("lane", costs.lane);
  line("dispatch", costs.turn);
  line("primitive", costs.primitive);
  line("port", costs.port);
  line("remote_port", costs.remote_port);
  line("poll_delay", costs.notice);
  line("wake", costs.wake);
  line("remote_latency", costs.remote_latency);
  line("spin_time", costs.patience);
  return text + error_lines(probes);
}

std::vector<TimedProbe> measured(const CalibrationNote& note, bool quick, Progress& progress) {
  std::vector<Probe> list = probes({.ranks = note.ranks, .processors = note.fit.processors});
  StopwatchSettings stopwatch;
  if (quick) { stopwatch.rounds = 1; }
  stopwatch.turn = [&](std::size_t done) {
    if (done % 10 == 0) {
      progress.show(fmt::format("calibrating: measured {} of {}", done, stopwatch.rounds * list.size()));
    }
  };
  const std::vector<Time> times = measure(list, stopwatch);
  std::vector<TimedProbe> result;
  for (std::size_t i = 0; i < list.size(); ++i) { result.push_back({std::move(list[i]), times[i], {}}); }
  return result;
}

void check_options(const Invocation& invocation, const std::string& backend) {
  if (!invocation.has("output")) {
    throw UsageError("calibrate: --output is missing, as in `athanor calibrate --output profile.json`");
  }
  for (const char* option : {"ranks", "quick"}) {
    if (invocation.has("refit") && invocation.has(option)) {
      throw UsageError(fmt::format("calibrate: --{} says what to measure, and --refit measures nothing", option));
    }
  }
  if (backend == "mpi" && invocation.has("ranks")) {
    throw UsageError("calibrate: --ranks: the backend mpi has one rank per process; start as many with mpirun");
  }
  if (backend == "cuda" && invocation.has("ranks")) {
    throw UsageError("calibrate: --ranks: the backend cuda chooses its own, by what fits on a GPU");
  }
  const bool published = backend == "tables" || backend == "training";
  if (published != (invocation.options.count("tables") > 0)) {
    throw UsageError("calibrate: --backend tables or training and --tables SCENARIO go together");
  }
  for (const char* option : {"profile", "free", "choose", "hold-out"}) {
    if (!published && invocation.has(option)) {
      throw UsageError(fmt::format("calibrate: --{} goes with --backend tables", option));
    }
  }
  for (const char* option : {"ranks", "refit"}) {
    if (published && invocation.has(option)) {
      throw UsageError(fmt::format("calibrate: --{} means nothing to --backend {}", option, backend));
    }
  }
  if (backend == "training" && invocation.has("choose")) {
    throw UsageError("calibrate: --choose goes with --backend tables");
  }
  if (backend != "mpi" && !published && invocation.has("cluster")) {
    throw UsageError("calibrate: --cluster says what lies between MPI processes; it goes with --backend mpi");
  }
}

ExitCode calibrate(const Invocation& invocation, const Streams& streams) {
  const std::string backend = invocation.has("backend") ? invocation.text("backend") : "threads";
  const std::vector<std::string> known{"threads", "mpi", "cuda", "tables", "training"};
  if (std::find(known.begin(), known.end(), backend) == known.end()) {
    throw UsageError(fmt::format("calibrate: there is no backend '{}' to calibrate; choose from {}", backend,
                                 fmt::join(known, ", ")));
  }
  check_options(invocation, backend);
  if (backend == "mpi") { return calibrate_over_mpi(invocation, streams); }
  if (backend == "tables") { return calibrate_on_tables(invocation, streams); }
  if (backend == "training") { return calibrate_on_training(invocation, streams); }
  return backend == "cuda" ? calibrate_on_gpus(invocation, streams) : calibrate_threads(invocation, streams);
}

}  // namespace

ExitCode calibrate_threads(const Invocation& invocation, const Streams& streams) {
  check_writable(invocation.text("output"));
  Progress progress(streams, !invocation.quiet);
  CalibrationNote note;
  std::vector<TimedProbe> probes;
  if (invocation.has("refit")) {
    probes = probes_of(invocation.text("refit"), note);
  } else {
    note = note_of_today(invocation);
    probes = measured(note, invocation.has("quick"), progress);
  }
  note.name = profile_name(invocation);
  note.fit.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const ThreadCosts costs = fit_thread_costs(probes, note.fit);
  progress.clear();
  write_profile(invocation, streams, thread_profile(costs, note, probes), summary(costs, probes));
  return ExitCode::ok;
}

std::string calibration_date() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

std::string calibration_versions() { return fmt::format("athanor {} ({}), {}", version(), git_revision(), compiler()); }

std::string profile_name(const Invocation& invocation) {
  return std::filesystem::path(invocation.text("output")).stem().string();
}

std::string error_lines(const std::vector<TimedProbe>& probes) {
  const auto line = [&](const char* what, Probe::Purpose purpose) {
    const FitError error = error_of(probes, purpose);
    return fmt::format("# {:<8} {:>4} probes, median |error| {:.1f} %, worst {:.1f} %\n", what, error.points,
                       error.median * 100, error.worst * 100);
  };
  return line("fitted", Probe::Purpose::fit) + line("held out", Probe::Purpose::hold_out);
}

void write_profile(const Invocation& invocation, const Streams& streams, const JsonValue& profile,
                   const std::string& summary) {
  const std::string text = text_of(profile, 2) + "\n";
  write_text_file(invocation.text("output"), text);
  if (invocation.has("json")) {
    write_json(invocation, streams, text);
  } else {
    streams.out(summary);
  }
}

Command calibrate_command() {
  return {
      .name = "calibrate",
      .summary = "fits a profile of this machine from micro-measurements",
      .arguments = "",
      .explanation =
          "Measures copies, exchanges of two ranks and collectives other than all-reduce, on threads of this\n"
          "process, on its GPUs, or, under mpirun, with one rank in each MPI process,\n"
          "finds the costs with which the model takes as long, holds it against collectives of sizes that it has not\n"
          "seen, and writes all that as a profile. Nothing else should run on the machine meanwhile. A profile holds\n"
          "every time that was measured, so that anybody can fit it again (--refit).\n",
      .example = "athanor calibrate --output this-machine.json",
      .least_arguments = 0,
      .most_arguments = 0,
      .options = &calibrate_options,
      .execute = &calibrate};
}

}  // namespace athanor
