#include "tests/algorithms/execution/cuda/emulated_run.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/rank_memory.hpp"

namespace athanor::emulation {

namespace {

constexpr int kRuns = 2;

std::string wrong_output(CudaExecutor& executor, const Schedule& schedule, const EmulatedRun& run) {
  const RankMemory memory(schedule, run.request.type);
  const Expectation expectation(run.collective, run.request.type, run.request.reduction);
  for (int i = 0; i < kRuns; ++i) {
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
    if (std::string misuse = EmulatedGpus::machine().misuse(); !misuse.empty()) { return misuse; }
  }
  return "";
}

}  // namespace

std::string text(const Algorithm& algorithm, const EmulatedRun& run) {
  return fmt::format(
      "{} {} of {} {} elements by {} over {} ranks, root {}, in place {}; {} channels, chunk {}, {} slices; {} slots, "
      "{} "
      "threads, on GPUs {}",
      algorithm.name, name(algorithm.kind), run.collective.count.count(), name(run.request.type),
      name(run.request.reduction), run.collective.ranks, run.collective.root, run.collective.in_place,
      run.layout.channels, run.layout.chunk.count(), run.layout.slices, run.request.slots, run.request.threads,
      fmt::join(run.request.devices, ","));
}

std::string wrong_after_runs(const Schedule& schedule, const EmulatedRun& run) {
  EmulatedGpus& gpus = EmulatedGpus::machine();
  gpus.set_up({.devices = run.devices});
  {
    CudaExecutor executor(schedule, run.request);
    if (std::string wrong = wrong_output(executor, schedule, run); !wrong.empty()) { return wrong; }
  }
  if (gpus.left() > 0) { return fmt::format("{} pieces of memory, streams and events are left", gpus.left()); }
  return gpus.misuse();
}

int check_on_gpus(const Algorithm& algorithm, const EmulatedRun& run) {
  if (algorithm.refuses(run.collective, run.layout)) { return 0; }
  const auto schedule = algorithm.make(run.collective, run.layout);
  EmulatedRun fitting = run;
  fitting.request.slots = std::max(run.request.slots, schedule->least_slots());
  const std::string wrong = wrong_after_runs(*schedule, fitting);
  if (!wrong.empty()) { FAIL_CHECK(text(algorithm, fitting), ": ", wrong); }
  return kRuns;
}

}  // namespace athanor::emulation
