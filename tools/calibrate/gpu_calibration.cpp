#include "tools/calibrate/gpu_calibration.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "models/software/profile.hpp"
#include "sim/config/json_value.hpp"
#include "tools/calibrate/calibration_json.hpp"

namespace athanor {

namespace {

using Json = JsonValue;
using GpuParameters = std::vector<FittedCost<GpuCosts>>;

FittedCost<GpuCosts> time(const char* name, Time GpuCosts::*member) {
  return {name,
          kNanosecond,
          1e6 * kNanosecond,
          true,
          [member](const GpuCosts& costs) { return static_cast<double>((costs.*member).count()); },
          [member](GpuCosts& costs, double value) { costs.*member = Time{std::llround(value)}; }};
}

FittedCost<GpuCosts> rate(const char* name, Bandwidth GpuCosts::*member) {
  return {name,
          0.1 * kGigabyte,
          100e3 * kGigabyte,
          false,
          [member](const GpuCosts& costs) { return static_cast<double>((costs.*member).count()); },
          [member](GpuCosts& costs, double value) { costs.*member = Bandwidth{std::llround(value)}; }};
}

GpuParameters copy_parameters() {
  return {time("launch", &GpuCosts::launch),
          time("primitive", &GpuCosts::primitive),
          rate("block_read_rate", &GpuCosts::block_read_rate),
          rate("block_write_rate", &GpuCosts::block_write_rate),
          rate("cache_rate", &GpuCosts::cache_rate),
          rate("memory_rate", &GpuCosts::memory_rate)};
}

GpuParameters peer_parameters() {
  return {time("peer_flag", &GpuCosts::peer_flag), rate("peer_block_rate", &GpuCosts::peer_block_rate),
          rate("peer_rate", &GpuCosts::peer_rate)};
}

/// Of the order of any present data-center GPU.
GpuCosts first_guess(const GpuMachine& machine) {
  GpuCosts costs;
  costs.launch = Time{5'000'000};
  costs.primitive = Time{1'000'000};
  costs.message = Time{500'000};
  costs.flag = Time{700'000};
  costs.block_read_rate = Bandwidth{50'000'000'000};
  costs.block_write_rate = Bandwidth{50'000'000'000};
  costs.cache_size = machine.cache_size;
  costs.cache_rate = Bandwidth{4'000'000'000'000};
  costs.memory_rate = Bandwidth{1'500'000'000'000};
  costs.blocks = machine.blocks;
  if (machine.gpus > 1) {
    costs.peer_flag = Time{2'000'000};
    costs.peer_block_rate = Bandwidth{20'000'000'000};
    costs.peer_rate = Bandwidth{100'000'000'000};
  }
  return costs;
}

bool is_copy(const Probe& probe) { return probe.name.find("blocks copy") != std::string::npos; }

}  // namespace

Time time_on_gpus(const Probe& probe, const GpuCosts& costs) {
  const Schedule& schedule = *probe.schedule;
  const std::uint32_t slots = std::max(costs.slots, schedule.least_slots());
  return simulate_on_gpus(schedule, probe.workers, costs, Bytes{4}, slots, {}).time;
}

GpuCosts fit_gpu_costs(std::vector<TimedProbe>& probes, const GpuFitSettings& settings) {
  GpuCosts costs = first_guess(settings.machine);
  const auto find = [&](const char* what, const GpuParameters& parameters, double factor, auto wanted) {
    settings.progress(what);
    std::vector<const TimedProbe*> chosen = fitted(probes);
    std::erase_if(chosen, [&](const TimedProbe* each) { return !wanted(each->probe); });
    search<GpuCosts>(chosen, parameters, costs, factor, settings.evaluations, &time_on_gpus);
  };
  GpuParameters all = copy_parameters();
  find("copies", all, 3, &is_copy);
  all.push_back(time("message", &GpuCosts::message));
  all.push_back(time("flag", &GpuCosts::flag));
  find("messages on one GPU", all, 1.5, [](const Probe& probe) {
    return probe.workers == 1 && (is_copy(probe) || probe.schedule->agent_count().ranks == 2);
  });
  if (settings.machine.gpus > 1) {
    const GpuParameters peers = peer_parameters();
    find("messages between two GPUs", peers, 3, [](const Probe& probe) { return probe.workers == 2; });
    all = joined(all, peers);
  }
  find("all together", all, 1.2, [](const Probe&) { return true; });
  refuse_implausible(costs, all);
  simulate_all(probes, [&](const Probe& probe) { return time_on_gpus(probe, costs); });
  return costs;
}

Json gpu_profile(const GpuCosts& costs, const GpuNote& note, const std::vector<TimedProbe>& probes) {
  Profile profile;
  profile.name = note.name;
  profile.description = fmt::format("the cuda executor on {}; {}", note.machine, hold_out_text(probes));
  profile.source = "athanor calibrate --backend cuda";
  profile.machine = note.machine;
  profile.gpus = costs;
  profile.fitted.ranks = {4, 8};
  return profile_json(profile, {{"date", note.date},
                                {"versions", note.versions},
                                {"gpus", note.gpus.gpus},
                                {"blocks", note.gpus.blocks},
                                {"cache_size", written(note.gpus.cache_size)},
                                {"fit", error_json(probes, Probe::Purpose::fit)},
                                {"hold_out", error_json(probes, Probe::Purpose::hold_out)},
                                {"probes", probes_json(probes)}});
}

std::vector<TimedProbe> gpu_probes_of(const std::string& path, GpuNote& note) {
  CalibratedDomain domain;
  std::vector<ProbeTime> times;
  const auto read = [&](Fields& fields) {
    fields.required("date", note.date, "Of the measurements");
    fields.required("versions", note.versions, "Of what measured");
    fields.required("gpus", note.gpus.gpus, "That were measured", {1, 64});
    fields.required("blocks", note.gpus.blocks, "Resident at once on one", {1, 1U << 20U});
    fields.required("cache_size", note.gpus.cache_size, "Of one", {Bytes{1}});
    read_probes(fields, times);
  };
  const auto timed = [&] {
    note.machine = domain.machine;
    return matched(gpu_probes(note.gpus), times);
  };
  return read_calibrated(path, domain, read, timed);
}

}  // namespace athanor
