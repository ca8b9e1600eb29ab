#include "tools/calibrate/timing.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/execution/threads.hpp"
#include "models/execution/pricing.hpp"
#include "models/execution/simulate.hpp"
#include "topologies/generators.hpp"

namespace athanor {

namespace {

constexpr std::size_t kFewest = 7;
constexpr std::size_t kMost = 2000;
constexpr std::int64_t kBetween = 15'000'000;  ///< ps that starting an iteration takes, beside it

}  // namespace

Time Stopwatch::of(const Schedule& schedule, std::uint32_t workers) {
  const RankMemory memory(schedule, DataType::float32);
  for (const RankBuffers& buffers : memory.buffers()) {
    std::fill(buffers.input.begin(), buffers.input.end(), std::byte{0});
    std::fill(buffers.output.begin(), buffers.output.end(), std::byte{0});
  }
  PreparedExecution execution(schedule, {.buffers = memory.buffers(), .workers = workers, .slots = {}, .pinned = true});
  execution.run(3);
  std::vector<Time> times;
  Time spent;
  while (times.size() < kFewest || (spent < patience_ && times.size() < kMost)) {
    times.emplace_back(execution.run().durations.front().count() * 1000);
    spent += times.back() + Time{kBetween};
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Time ModelTiming::of(const Schedule& schedule, std::uint32_t workers) {
  const std::uint32_t ranks = schedule.roster().ranks;
  const Cluster cluster = shared_memory(ranks, workers);
  const ThreadPricing pricing(costs_, Bytes{4}, schedule.least_slots());
  const Placement placement{std::vector<VertexId>(schedule.roster().agents, VertexId{0}), 0};
  return simulate(schedule, cluster, placement, pricing, {}).time;
}

}  // namespace athanor
