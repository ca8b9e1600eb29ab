#include "tests/algorithms/execution/cuda/gpu_runs.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "sim/words.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

template <class Value>
Value drawn(RandomStream& random, std::span<const Value> values) {
  return values[random.below(values.size())];
}

}  // namespace

std::string text(const Algorithm& algorithm, const GpuRun& run) {
  return fmt::format(
      "{} {} of {} {} elements by {} over {} ranks, root {}, in place {}; {} channels, chunk {}, {} slices; {} slots, "
      "{} "
      "threads, on GPUs {}",
      algorithm.name, name(algorithm.kind), run.collective.count.count(), name(run.request.type),
      name(run.request.reduction), run.collective.ranks, run.collective.root, run.collective.in_place,
      run.layout.channels, run.layout.chunk.count(), run.layout.slices, run.request.slots, run.request.threads,
      joined(run.request.devices, ","));
}

GpuRun draw_gpu_run(RandomStream& random, CollectiveKind kind, std::uint32_t ranks, int gpus,
                    std::span<const std::uint32_t> threads) {
  const std::vector<std::int64_t> counts{0, 1, ranks - 1, ranks, ranks + 1, 7 * ranks + 3, 61, 250};
  const std::vector<Layout> layouts{
      Layout{},
      Layout{.channels = 2},
      Layout{.chunk = Elements{9}, .shape = EngineTreeShape{.outstanding = 2}},
      Layout{.chunk = Elements{64}, .slices = 3},
      Layout{.channels = 2, .chunk = Elements{64}, .slices = 2, .grain = Elements{2}, .rotation = 1},
      Layout{.channels = 3,
             .chunk = Elements{40},
             .orders = sample_orders(ranks),
             .shape = PeerRoundShape{.parts = 2, .peers_at_once = 3}}};
  const std::vector<std::uint32_t> slots{1, 2, 3, 8};
  const std::vector<std::vector<int>> devices{{0}, {0}, {0, 1}, {1, 0, 2}, {0, 0}, {1, 0, 1}};
  GpuRun run;
  const std::int64_t count = drawn<std::int64_t>(random, counts);
  const auto root = static_cast<std::uint32_t>(random.below(ranks));
  run.collective = sample(kind, ranks, count, root, random.below(2) == 0);
  run.layout = drawn<Layout>(random, layouts);
  run.request.type = drawn(random, data_types());
  run.request.reduction = drawn(random, reductions());
  run.request.slots = drawn<std::uint32_t>(random, slots);
  run.request.threads = drawn(random, threads);
  run.request.devices = drawn<std::vector<int>>(random, devices);
  for (int& device : run.request.devices) { device %= gpus; }
  return run;
}

std::string wrong_after_runs(const Schedule& schedule, const GpuRun& run) {
  CudaRequest request = run.request;
  request.slots = std::max(request.slots, schedule.least_slots());
  CudaExecutor executor(schedule, request);
  const RankMemory memory(schedule, request.type);
  const Expectation expectation(run.collective, request.type, request.reduction);
  for (int i = 0; i < kRunsOfEach; ++i) {
    for (std::uint32_t rank = 0; rank < run.collective.ranks; ++rank) {
      const RankBuffers& buffers = memory.buffers()[rank];
      std::fill(buffers.output.begin(), buffers.output.end(), std::byte{0x5A});
      expectation.fill(rank, buffers.input);
      executor.write(AgentId{rank}, Buffer::output, buffers.output);
      executor.write(AgentId{rank}, Buffer::input, buffers.input);
    }
    executor.run();
    for (std::uint32_t rank = 0; rank < run.collective.ranks; ++rank) {
      const RankBuffers& buffers = memory.buffers()[rank];
      executor.read(AgentId{rank}, Buffer::output, buffers.output);
      if (const auto wrong = expectation.wrong(rank, buffers.output)) { return *wrong; }
    }
  }
  return "";
}

}  // namespace athanor
