#include "tools/calibrate/fit.hpp"

#include <algorithm>

#include "tools/calibrate/parameters.hpp"
#include "tools/calibrate/timing.hpp"

namespace athanor {

namespace {

using CostParameters = std::vector<CostParameter>;

/// Where the search begins: of the order of any present machine.
ThreadCosts first_guess(const FitSettings& settings) {
  ThreadCosts costs;
  costs.start = costs.lane = costs.turn = costs.port = Time{20'000};
  costs.primitive = Time{50'000};
  costs.remote_port = costs.notice = costs.remote_latency = Time{100'000};
  costs.meeting = Time{400'000};
  costs.patience = Time{20'000'000};
  costs.wake = Time{50'000'000};
  std::int64_t rate = 200'000'000'000;
  for (const Bytes size : settings.private_caches) {
    costs.caches.push_back({size, Bandwidth{rate}, false, Bandwidth{20'000'000'000}});
    rate /= 3;
  }
  costs.caches.push_back({Bytes{32 << 20}, Bandwidth{rate}, true, {}});
  costs.memory_rate = Bandwidth{10'000'000'000};
  return costs;
}

constexpr auto kSimulate = [](const Probe& probe, const ThreadCosts& costs) { return simulate(probe, costs); };

}  // namespace

ThreadCosts fit_thread_costs(std::vector<TimedProbe>& probes, const FitSettings& settings) {
  ThreadCosts costs = first_guess(settings);
  // Moves these parameters to what the probes that are wanted tell of them.
  const auto find = [&](const char* what, const CostParameters& parameters, double factor, auto wanted) {
    settings.progress(what);
    std::vector<const TimedProbe*> chosen = fitted(probes);
    std::erase_if(chosen, [&](const TimedProbe* each) { return !wanted(each->probe); });
    search<ThreadCosts>(chosen, parameters, costs, factor, settings.evaluations, kSimulate);
  };
  const CostParameters bytes = byte_parameters(costs.caches.size());
  const CostParameters steps = step_parameters();
  CostParameters all = joined(bytes, steps);
  find("rates of caches and memory", bytes, 2,
       [](const Probe& probe) { return probe.schedule->agent_count().ranks == 1; });
  find("steps on one processor", all, 1.5, [](const Probe& probe) { return probe.workers == 1; });
  if (settings.processors > 1) {
    const CostParameters couple = couple_parameters(settings.private_caches.size());
    find("several processors", couple, 2,
         [](const Probe& probe) { return probe.workers > 1 && probe.schedule->agent_count().ranks == 2; });
    all = joined(all, couple);
    find("all together", all, 1.2, [](const Probe&) { return true; });
  }
  refuse_implausible(costs, all);
  simulate_all(probes, [&](const Probe& probe) { return simulate(probe, costs); });
  return costs;
}

}  // namespace athanor
