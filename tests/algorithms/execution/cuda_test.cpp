#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/execution/cuda/gpu_runs.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

bool without_gpu() {
  const bool none = cuda_devices().empty();
  if (none) { MESSAGE("no CUDA device on this machine: nothing is run on one"); }
  return none;
}

}  // namespace

TEST_CASE("on GPUs every algorithm gives what it must, for every type, operation, size, layout and place") {
  if (without_gpu()) { return; }
  const std::vector<std::uint32_t> threads{32, 128, 512};
  RandomStream random(4, "GPUs");
  for (const Algorithm& algorithm : catalog()) {
    for (std::uint32_t ranks = 1; ranks <= 8; ++ranks) {
      for (int i = 0; i < 4; ++i) {
        const auto gpus = static_cast<int>(cuda_devices().size());
        const GpuRun run = draw_gpu_run(random, algorithm.kind, ranks, gpus, threads);
        if (algorithm.refuses(run.collective, run.layout)) { continue; }
        const std::string wrong = wrong_after_runs(*algorithm.make(run.collective, run.layout), run);
        if (!wrong.empty()) { FAIL_CHECK(text(algorithm, run), ": ", wrong); }
      }
    }
  }
}

TEST_CASE("a schedule that does not end on a GPU is stopped at its time limit") {
  if (without_gpu()) { return; }
  toys::Table table;
  table.agent_counts = {2, 2};
  table.agents.resize(2);
  table.memories.resize(2);
  table.limit = Elements{1};
  Primitive receive_first;
  receive_first.receives = {0, 1};
  receive_first.sends = {0, 1};
  table.add(0, {receive_first});
  table.add(1, {receive_first});
  table.join(0, 0, 1, 0);
  table.join(1, 0, 0, 0);
  CudaRequest request;
  request.time_limit_seconds = 0.2;
  CudaExecutor executor(table, request);
  CHECK_THROWS_WITH_AS(executor.run(), doctest::Contains("had not ended after"), SimulationError);
}

TEST_CASE("lanes that do not fit on the GPU at once are refused before anything runs") {
  if (without_gpu()) { return; }
  const Collective collective{CollectiveKind::all_reduce, 64, Elements{1 << 20}};
  const auto schedule = find(CollectiveKind::all_reduce, "ring").make(collective, {1024});
  CHECK_THROWS_WITH_AS(CudaExecutor(*schedule, {}), doctest::Contains("use fewer channels or fewer threads"),
                       SimulationError);
}
