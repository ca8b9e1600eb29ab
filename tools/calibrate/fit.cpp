#include "tools/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "tools/calibrate/timing.hpp"

namespace athanor {

namespace {

CostParameter time(const char* name, Time ThreadCosts::*member, double most_ns) {
  return {name,
          0.1 * kNanosecond,
          most_ns * kNanosecond,
          true,
          [member](const ThreadCosts& costs) { return static_cast<double>((costs.*member).count()); },
          [member](ThreadCosts& costs, double value) { costs.*member = Time{std::llround(value)}; }};
}

CostParameter rate(std::string name, std::function<Bandwidth&(ThreadCosts&)> member) {
  return {std::move(name),
          0.2 * kGigabyte,
          2000 * kGigabyte,
          false,
          [member](ThreadCosts costs) { return static_cast<double>(member(costs).count()); },
          [member](ThreadCosts& costs, double value) { member(costs) = Bandwidth{std::llround(value)}; }};
}

using CostParameters = std::vector<CostParameter>;

/// Where the search begins: of the order of any present machine.
ThreadCosts first_guess(const FitSettings& settings) {
  ThreadCosts costs;
  costs.start = costs.lane = costs.dispatch = costs.port = Time{20'000};
  costs.primitive = Time{50'000};
  costs.remote_port = costs.poll_delay = costs.remote_latency = Time{100'000};
  costs.meeting = Time{400'000};
  costs.spin_time = Time{20'000'000};
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

std::vector<CostParameter> byte_parameters(std::size_t levels) {
  std::vector<CostParameter> all;
  for (std::size_t level = 0; level < levels; ++level) {
    all.push_back(rate(fmt::format("caches[{}].rate", level),
                       [level](ThreadCosts& costs) -> Bandwidth& { return costs.caches[level].rate; }));
  }
  all.push_back(rate("memory_rate", [](ThreadCosts& costs) -> Bandwidth& { return costs.memory_rate; }));
  const std::size_t last = levels - 1;
  all.push_back({fmt::format("caches[{}].size", last), 1 << 20, 4e9, false,
                 [last](const ThreadCosts& costs) { return static_cast<double>(costs.caches[last].size.count()); },
                 [last](ThreadCosts& costs, double value) { costs.caches[last].size = Bytes{std::llround(value)}; }});
  return all;
}

std::vector<CostParameter> step_parameters() {
  return {time("start", &ThreadCosts::start, 10e3), time("lane", &ThreadCosts::lane, 10e3),
          time("dispatch", &ThreadCosts::dispatch, 10e3), time("primitive", &ThreadCosts::primitive, 10e3),
          time("port", &ThreadCosts::port, 10e3)};
}

std::vector<CostParameter> couple_parameters(std::size_t private_levels) {
  std::vector<CostParameter> all{
      time("meeting", &ThreadCosts::meeting, 100e3),      time("remote_port", &ThreadCosts::remote_port, 10e3),
      time("poll_delay", &ThreadCosts::poll_delay, 10e3), time("remote_latency", &ThreadCosts::remote_latency, 10e3),
      time("spin_time", &ThreadCosts::spin_time, 100e6),  time("wake", &ThreadCosts::wake, 100e6)};
  for (std::size_t level = 0; level < private_levels; ++level) {
    all.push_back(rate(fmt::format("caches[{}].remote_rate", level),
                       [level](ThreadCosts& costs) -> Bandwidth& { return costs.caches[level].remote_rate; }));
  }
  return all;
}

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
