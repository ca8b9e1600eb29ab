#include <algorithm>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/gpu_calibration.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/streams.hpp"
#include "tools/measure/cuda_backend.hpp"
#include "tools/measure/machine.hpp"

namespace athanor {

namespace {

/// Every probe has its turn in each round.
std::vector<TimedProbe> measured(std::vector<Probe> probes, std::uint32_t rounds, Progress& progress) {
  constexpr std::chrono::milliseconds kPatience{10};
  std::vector<std::vector<Time>> times(probes.size());
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < probes.size(); ++i) {
      progress.show(fmt::format("calibrating: measured {} of {}", round * probes.size() + i, rounds * probes.size()));
      for (const std::chrono::nanoseconds time : time_on_gpus(*probes[i].schedule, probes[i].workers, kPatience)) {
        times[i].emplace_back(time.count() * 1000);
      }
    }
  }
  std::vector<TimedProbe> result;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    result.push_back({std::move(probes[i]), std::max(Time{1}, times[i][times[i].size() / 2]), {}});
  }
  return result;
}

GpuNote note_of_today(const GpuFacts& facts) {
  Machine machine = this_machine();
  machine.gpus = counted_models(facts.models);
  GpuNote note;
  note.machine = machine_id(machine);
  note.date = calibration_date();
  note.versions = calibration_versions();
  note.gpus = {static_cast<std::uint32_t>(facts.models.size()), facts.resident_blocks, facts.cache_size};
  return note;
}

std::string summary(const GpuCosts& costs, const GpuNote& note, const std::vector<TimedProbe>& probes) {
  std::string text = fmt::format("# {} GPU{}, {} resident blocks each, cache of {}\n", note.gpus.gpus,
                                 note.gpus.gpus == 1 ? "" : "s", note.gpus.blocks, to_string(note.gpus.cache_size));
  const auto time = [&](const char* name, Time cost) {
    text += fmt::format("# {:<16} {:>10.1f} ns\n", name, static_cast<double>(cost.count()) * 1e-3);
  };
  const auto rate = [&](const char* name, Bandwidth cost) {
    text += fmt::format("# {:<16} {:>10.1f} GB/s\n", name, gigabytes_per_second(cost));
  };
  time("launch", costs.launch);
  time("primitive", costs.primitive);
  time("message", costs.message);
  time("flag", costs.flag);
  rate("block_read_rate", costs.block_read_rate);
  rate("block_write_rate", costs.block_write_rate);
  rate("cache_rate", costs.cache_rate);
  rate("memory_rate", costs.memory_rate);
  if (note.gpus.gpus > 1) {
    time("peer_flag", costs.peer_flag);
    rate("peer_block_rate", costs.peer_block_rate);
    rate("peer_rate", costs.peer_rate);
  }
  return text + error_lines(probes);
}

}  // namespace

Calibrated calibrated_gpus(const CalibrateOptions& options, Progress& progress) {
  GpuNote note;
  std::vector<TimedProbe> probes;
  if (options.refit) {
    probes = gpu_probes_of(*options.refit, note);
  } else {
    note = note_of_today(gpu_facts());
    probes = measured(gpu_probes(note.gpus), options.quick ? 1 : 5, progress);
  }
  note.name = profile_name(options);
  GpuFitSettings settings{.machine = note.gpus};
  settings.progress = [&](const std::string& what) { progress.show("calibrating: " + what); };
  const GpuCosts costs = fit_gpu_costs(probes, settings);
  progress.clear();
  return {gpu_profile(costs, note, probes), summary(costs, note, probes)};
}

ExitCode calibrate_on_gpus(const CalibrateOptions& options, const Streams& streams) {
  check_writable(*options.output);
  Progress progress(streams, !options.common.quiet);
  write_profile(options, streams, calibrated_gpus(options, progress));
  return ExitCode::ok;
}

}  // namespace athanor
