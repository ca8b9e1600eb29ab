#include <algorithm>
#include <thread>

#include <fmt/core.h>
#include <unistd.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/profile_file.hpp"
#include "tools/calibrate/timing.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/streams.hpp"
#include "tools/measure/machine.hpp"

namespace athanor {

namespace {

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

CalibrationNote note_of_today(const CalibrateOptions& options) {
  CalibrationNote note;
  note.machine = machine_id(this_machine());
  note.date = calibration_date();
  note.versions = calibration_versions();
  note.ranks = options.ranks.empty() ? std::vector<std::uint32_t>{2, 4, 8} : options.ranks;
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
  line("dispatch", costs.dispatch);
  line("primitive", costs.primitive);
  line("port", costs.port);
  line("remote_port", costs.remote_port);
  line("poll_delay", costs.poll_delay);
  line("wake", costs.wake);
  line("remote_latency", costs.remote_latency);
  line("spin_time", costs.spin_time);
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

}  // namespace

Calibrated calibrated_threads(const CalibrateOptions& options, Progress& progress) {
  CalibrationNote note;
  std::vector<TimedProbe> probes;
  if (options.refit) {
    probes = probes_of(*options.refit, note);
  } else {
    note = note_of_today(options);
    probes = measured(note, options.quick, progress);
  }
  note.name = profile_name(options);
  note.fit.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const ThreadCosts costs = fit_thread_costs(probes, note.fit);
  progress.clear();
  return {thread_profile(costs, note, probes), summary(costs, probes)};
}

ExitCode calibrate_threads(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  Progress progress(streams, !options.common.quiet);
  write_profile(options, streams, calibrated_threads(options, progress));
  return ExitCode::ok;
}

}  // namespace athanor
