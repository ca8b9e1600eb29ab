#include "models/execution/simulate_calls.hpp"

#include <algorithm>
#include <optional>

#include "models/execution/executor.hpp"
#include "models/execution/network_substrate.hpp"
#include "models/execution/prepare.hpp"
#include "models/execution/repetition.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

Time end_of(const Executor& executor, KernelIndex kernel) {
  Time end;
  for (const LaneIndex lane : executor.kernels()->lanes(kernel)) { end = std::max(end, executor.end_of(lane)); }
  return end;
}

/// Counted from the first one, since a sum over many ranks and calls need not fit.
Time mean_end(const Executor& executor) {
  const CallKernels& kernels = *executor.kernels();
  Time first = Time::max();
  for (const KernelIndex kernel : kernels.ids()) { first = std::min(first, end_of(executor, kernel)); }
  Time later;
  std::int64_t ranks = 0;
  for (const KernelIndex kernel : kernels.ids()) {
    later += (end_of(executor, kernel) - first) * kernels.members(kernel);
    ranks += kernels.members(kernel);
  }
  return ranks == 0 ? Time::zero() : first + later / ranks;
}

/// When lanes ended the call in the middle of the loop.
class MiddleCall final : public ExecutionObserver {
 public:
  MiddleCall(const Simulator& simulator, const Executor& executor, std::size_t lanes, std::uint32_t calls)
      : simulator_(simulator), executor_(executor), middle_(calls / 2), ends_(lanes) {}

  void call_ended(LaneIndex lane) override {
    if (executor_.lane(lane).call == middle_) { ends_[lane] = simulator_.now(); }
  }
  /// By call from then on, of the rank that ends last: others may run ahead of it, until slots hold them back.
  Time period(std::uint32_t calls) const {
    LaneIndex last = executor_.kernels()->lanes(KernelIndex{0}).front();
    for (const KernelIndex kernel : executor_.kernels()->ids()) {
      for (const LaneIndex lane : executor_.kernels()->lanes(kernel)) {
        if (executor_.end_of(lane) > executor_.end_of(last)) { last = lane; }
      }
    }
    return (executor_.end_of(last) - ends_[last]) / (calls - middle_);
  }

 private:
  const Simulator& simulator_;
  const Executor& executor_;
  std::uint32_t middle_;
  IdVector<LaneIndex, Time> ends_;
};

}  // namespace

SimulatedCalls simulate_calls(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                              const CostModel& costs, const SimulationOptions& options, const CallLoop& loop) {
  require(loop.calls >= 2, "a loop of {} calls", loop.calls);
  const MappedSchedule mapped = prepare(schedule, cluster, placement, costs, options, true).mapped;
  const bool packets = options.level == NetworkLevel::packet;
  Simulator simulator(options.stop);
  NetworkSubstrate network(simulator, mapped, *cluster.fabric, options, placement.seed);
  Executor executor(simulator, mapped, schedule, network, costs.element_size(), costs.slots());
  executor.repeat(loop);
  if (executor.kernels()->ids().empty()) { return {}; }
  MiddleCall middle(simulator, executor, mapped.lanes.size(), loop.calls);
  executor.observe(middle);
  std::optional<Repetition> repetition;
  if (options.repeat_loops && !packets) {
    repetition.emplace(simulator, executor, network, mapped, to_double(options.skip_error));
  }
  executor.start(Time::zero());
  simulator.run();
  executor.require_finished();
  network.use(executor.finish_time());  // checks that no link carried too much

  SimulatedCalls result;
  result.end = mean_end(executor);
  result.exact = repetition && repetition->period();
  result.period = result.exact ? repetition->period()->span / repetition->period()->calls : middle.period(loop.calls);
  result.primitives = executor.primitives();
  return result;
}

}  // namespace athanor
