#include "models/execution/shared_machine.hpp"

#include <algorithm>
#include <optional>

#include "models/execution/executor.hpp"
#include "models/execution/gpu_substrate.hpp"
#include "models/execution/thread_substrate.hpp"
#include "models/execution/timeline_recorder.hpp"

namespace athanor {

namespace {

Simulated run(Simulator& simulator, Executor& executor, const MappedSchedule& mapped, Time launch, Timeline* timeline,
              Time offset) {
  std::optional<TimelineRecorder> recorder;
  if (timeline != nullptr) { executor.observe(recorder.emplace(*timeline, offset)); }
  executor.start(launch);
  simulator.run();
  executor.require_finished();
  Simulated result;
  result.time = executor.finish_time();
  result.primitives = executor.primitives();
  result.events = simulator.events();
  result.lanes = result.all_lanes = static_cast<std::uint32_t>(mapped.lanes.size());
  return result;
}

}  // namespace

Simulated simulate_on_threads(const Schedule& schedule, std::uint32_t processors, const ThreadCosts& costs,
                              Bytes element_size, std::uint32_t slots, const SimulationOptions& options) {
  const MappedSchedule mapped = flatten(schedule);
  const std::uint32_t workers = std::min(processors, schedule.agent_count().ranks);
  PrimitiveWork work(schedule, costs, workers, element_size, slots);
  Simulated result;
  for (const bool timed : {false, true}) {
    Simulator simulator;
    ThreadSubstrate threads(simulator, mapped, costs, work, workers);
    Executor executor(simulator, mapped, schedule, threads, element_size, slots);
    result =
        run(simulator, executor, mapped, Time::zero(), timed ? options.timeline : nullptr, options.timeline_offset);
    work.begin_again();
  }
  return result;
}

Simulated simulate_on_gpus(const Schedule& schedule, std::uint32_t gpus, const GpuCosts& costs, Bytes element_size,
                           std::uint32_t slots, const SimulationOptions& options) {
  const MappedSchedule mapped = flatten(schedule);
  const std::uint32_t enough = std::max(slots, costs.slots);
  Simulator simulator;
  GpuSubstrate blocks(simulator, mapped, schedule, costs, gpus, element_size, enough);
  Executor executor(simulator, mapped, schedule, blocks, element_size, enough);
  return run(simulator, executor, mapped, costs.launch, options.timeline, options.timeline_offset);
}

}  // namespace athanor
