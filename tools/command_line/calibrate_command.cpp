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
#include "tools/calibrate/profile_file.hpp"
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
  add("quick", "shorter, and less certain");
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

FitSettings settings_of(const Invocation& invocation) {
  FitSettings settings;
  settings.private_caches = private_caches();
  settings.processors = std::max(1U, std::thread::hardware_concurrency());
  if (invocation.has("ranks")) {
    settings.ranks.clear();
    for (const std::string& word : words_of("calibrate", "ranks", invocation.text("ranks"))) {
      settings.ranks.push_back(number_in("calibrate", "ranks", word, 2));
    }
  }
  settings.processors = std::min(settings.processors, 2U);
  return settings;
}

std::string summary(const ThreadCosts& costs, const HoldOutError& error, std::size_t points) {
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
  return text + fmt::format("# hold-out: {} points, median |error| {:.1f} %, worst {:.1f} %\n", points,
                            error.median * 100, error.worst * 100);
}

CalibrationNote note_of(const Invocation& invocation, const FitSettings& settings) {
  const std::time_t now = std::time(nullptr);
  return {std::filesystem::path(invocation.text("output")).stem().string(), machine_id(this_machine()),
          fmt::format("{:%Y-%m-%d}", fmt::gmtime(now)),
          fmt::format("athanor {} ({}), {}", version(), git_revision(), compiler()), settings.ranks};
}

ExitCode calibrate(const Invocation& invocation, const Streams& streams) {
  if (invocation.has("backend") && invocation.text("backend") != "threads") {
    throw UsageError(
        fmt::format("calibrate: --backend '{}' cannot be calibrated; only threads can", invocation.text("backend")));
  }
  if (!invocation.has("output")) {
    throw UsageError("calibrate: --output is missing, as in `athanor calibrate --output profile.json`");
  }
  check_writable(invocation.text("output"));
  FitSettings settings = settings_of(invocation);
  Progress progress(streams, !invocation.quiet);
  settings.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  Stopwatch stopwatch(Time{invocation.has("quick") ? 5'000'000'000 : 30'000'000'000});
  const ThreadCosts costs = fit_thread_costs(stopwatch, settings);
  const std::vector<HeldOut> held_out = hold_out(stopwatch, costs, settings);
  progress.clear();
  const nlohmann::ordered_json profile = thread_profile(costs, note_of(invocation, settings), held_out);
  write_text_file(invocation.text("output"), profile.dump(2) + "\n");
  if (invocation.has("json")) {
    write_json(invocation, streams, profile.dump(2) + "\n");
  } else {
    streams.out(summary(costs, error_of(held_out), held_out.size()));
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
          "Measures copies, small collectives other than all-reduce and exchanges of two ranks on threads of this\n"
          "process, finds the costs with which the model takes as long, holds it against larger collectives that it\n"
          "has not seen, and writes all that as a profile. Nothing else should run on the machine meanwhile.\n",
      .example = "athanor calibrate --output this-machine.json",
      .least_arguments = 0,
      .most_arguments = 0,
      .options = &calibrate_options,
      .execute = &calibrate};
}

}  // namespace athanor
