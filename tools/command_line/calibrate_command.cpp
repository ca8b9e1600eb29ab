#include <algorithm>
#include <ctime>
#include <filesystem>
#include <thread>

#include <boost/program_options/value_semantic.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/json/text.hpp"
#include "tools/calibrate/profile_file.hpp"
#include "tools/calibrate/timing.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/option_values.hpp"
#include "tools/command_line/output_file.hpp"
#include "tools/command_line/progress.hpp"
#include "tools/measure/machine.hpp"
#include "tools/report/version.hpp"

namespace athanor {

namespace {

boost::program_options::options_description calibrate_options() {
  namespace options = boost::program_options;
  options::options_description result("options");
  auto add = result.add_options();
  const auto text = [](const char* what) { return options::value<std::string>()->value_name(what); };
  add("backend", text("NAME"), "what is calibrated: threads; absent: threads");
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
  const std::time_t now = std::time(nullptr);
  CalibrationNote note;
  note.machine = machine_id(this_machine());
  note.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
  note.versions = fmt::format("athanor {} ({}), {}", version(), git_revision(), compiler());
  note.ranks = invocation.has("ranks") ? ranks_of(invocation) : std::vector<std::uint32_t>{2, 4, 8};
  note.fit.private_caches = private_caches();
  // Two workers tell all that the model knows of; more would only meet more noise.
  note.fit.processors = std::clamp(std::thread::hardware_concurrency(), 1U, 2U);
  return note;
}

std::string summary(const ThreadCosts& costs, const FitError& fit, const FitError& held_out) {
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
  line("turn", costs.turn);
  line("primitive", costs.primitive);
  line("port", costs.port);
  line("remote_port", costs.remote_port);
  line("notice", costs.notice);
  line("wake", costs.wake);
  line("remote_latency", costs.remote_latency);
  line("patience", costs.patience);
  const auto errors = [&](const char* what, const FitError& error) {
    text += fmt::format("# {:<8} {:>4} probes, median |error| {:.1f} %, worst {:.1f} %\n", what, error.points,
                        error.median * 100, error.worst * 100);
  };
  errors("fitted", fit);
  errors("held out", held_out);
  return text;
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

void check_options(const Invocation& invocation) {
  if (invocation.has("backend") && invocation.text("backend") != "threads") {
    throw UsageError(
        fmt::format("calibrate: --backend '{}' cannot be calibrated; only threads can", invocation.text("backend")));
  }
  if (!invocation.has("output")) {
    throw UsageError("calibrate: --output is missing, as in `athanor calibrate --output profile.json`");
  }
  for (const char* option : {"ranks", "quick"}) {
    if (invocation.has("refit") && invocation.has(option)) {
      throw UsageError(fmt::format("calibrate: --{} says what to measure, and --refit measures nothing", option));
    }
  }
  check_writable(invocation.text("output"));
}

ExitCode calibrate(const Invocation& invocation, const Streams& streams) {
  check_options(invocation);
  Progress progress(streams, !invocation.quiet);
  CalibrationNote note;
  std::vector<TimedProbe> probes;
  if (invocation.has("refit")) {
    probes = probes_of(invocation.text("refit"), note);
  } else {
    note = note_of_today(invocation);
    probes = measured(note, invocation.has("quick"), progress);
  }
  note.name = std::filesystem::path(invocation.text("output")).stem().string();
  note.fit.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const ThreadCosts costs = fit_thread_costs(probes, note.fit);
  progress.clear();
  const std::string profile = text_of(thread_profile(costs, note, probes), 2) + "\n";
  write_text_file(invocation.text("output"), profile);
  if (invocation.has("json")) {
    write_json(invocation, streams, profile);
  } else {
    streams.out(summary(costs, error_of(probes, Probe::Purpose::fit), error_of(probes, Probe::Purpose::hold_out)));
  }
  return ExitCode::ok;
}

}  // namespace

Command calibrate_command() {
  return {
      .name = "calibrate",
      .summary = "fits a profile of this machine from micro-measurements",
      .arguments = "",
      .explanation =
          "Measures copies, exchanges of two ranks and collectives other than all-reduce on threads of this process,\n"
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
