#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

bool without_gpu() {
  const bool none = cuda_devices().empty();
  if (none) { MESSAGE("no CUDA device on this machine: nothing is run on one"); }
  return none;
}

/// Which output is wrong after two runs on the GPUs, or "".
std::string wrong_after_run(const Schedule& schedule, const Collective& collective, const CudaRequest& request) {
  const RankMemory memory(schedule, request.type);
  const Expectation expectation(collective, request.type, request.reduction);
  CudaExecutor executor(schedule, request);
  for (int run = 0; run < 2; ++run) {
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      const RankBuffers& buffers = memory.buffers()[rank];
      expectation.fill(rank, buffers.input);
      executor.write(AgentId{rank}, Buffer::input, buffers.input);
    }
    executor.run();
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      const RankBuffers& buffers = memory.buffers()[rank];
      executor.read(AgentId{rank}, Buffer::output, buffers.output);
      if (const auto wrong = expectation.wrong(rank, buffers.output)) { return *wrong; }
    }
  }
  return "";
}

}  // namespace

TEST_CASE("on GPUs every algorithm gives what it must, for every type, operation, size and place") {
  if (without_gpu()) { return; }
  for (const Algorithm& algorithm : catalog()) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
      for (const std::int64_t count : {0, 1, 97, 4096}) {
        const DataType type = data_types()[static_cast<std::size_t>(ranks + count) % data_types().size()];
        for (const Reduction reduction : reductions()) {
          const Collective collective{algorithm.kind, ranks, Elements{count}};
          const Layout layout{2, Elements{64}, 2};
          if (algorithm.refuses(collective, layout)) { continue; }
          const auto schedule = algorithm.make(collective, layout);
          CudaRequest request;
          request.type = type;
          request.reduction = reduction;
          request.threads = 128;
          CAPTURE(algorithm.name);
          CAPTURE(ranks);
          CAPTURE(count);
          CHECK(wrong_after_run(*schedule, collective, request) == "");
        }
      }
    }
  }
}

TEST_CASE("a schedule that does not end on a GPU is stopped at its time limit") {
  if (without_gpu()) { return; }
  toys::Table table;
  table.rosters = {2, 2};
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
