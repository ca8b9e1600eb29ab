#include "tools/calibrate/timing.hpp"

#include <algorithm>

#include "algorithms/execution/threads/threads.hpp"
#include "models/execution/simulate.hpp"

namespace athanor {

namespace {

constexpr std::size_t kFewest = 3;
constexpr std::size_t kMost = 500;
constexpr std::int64_t kBetween = 15'000'000;  ///< ps that starting an iteration takes, beside it

/// Appends the durations of one turn.
void take_turn(const Probe& probe, Time patience, std::vector<Time>& times) {
  const RankMemory memory(*probe.schedule, DataType::float32);
  for (const RankBuffers& buffers : memory.buffers()) {
    std::fill(buffers.input.begin(), buffers.input.end(), std::byte{0});
    std::fill(buffers.output.begin(), buffers.output.end(), std::byte{0});
  }
  PreparedExecution execution(*probe.schedule,
                              {.buffers = memory.buffers(), .workers = probe.workers, .slots = {}, .pinned = true});
  execution.run(3);
  Time spent;
  for (std::size_t done = 0; done < kFewest || (spent < patience && done < kMost); ++done) {
    times.emplace_back(execution.run().durations.front().count() * 1000);
    spent += times.back() + Time{kBetween};
  }
}

}  // namespace

std::vector<Time> measure(const std::vector<Probe>& probes, const StopwatchSettings& settings) {
  std::vector<std::vector<Time>> times(probes.size());
  for (std::uint32_t round = 0; round < settings.rounds; ++round) {
    for (std::size_t i = 0; i < probes.size(); ++i) {
      settings.turn(round * probes.size() + i);
      take_turn(probes[i], settings.patience, times[i]);
    }
  }
  std::vector<Time> medians;
  for (std::vector<Time>& each : times) {
    std::sort(each.begin(), each.end());
    medians.push_back(each[each.size() / 2]);
  }
  return medians;
}

Time simulate(const Probe& probe, const ThreadCosts& costs) {
  const Schedule& schedule = *probe.schedule;
  return simulate_on_threads(schedule, probe.workers, costs, Bytes{4}, schedule.least_slots(), {}).time;
}

}  // namespace athanor
