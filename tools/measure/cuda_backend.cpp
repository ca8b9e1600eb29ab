#include "tools/measure/cuda_backend.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tools/measure/machine.hpp"

namespace athanor {

namespace {

/// What no expected value consists of: an output that nobody has written is then found.
constexpr std::byte kUntouched{0x5A};

/// The ranks' buffers, on this side and on the GPUs.
class Buffers {
 public:
  Buffers(const Trial& trial, CudaExecutor& executor)
      : memory_(*trial.schedule, trial.type),
        expectation_(trial.collective, trial.type, trial.reduction),
        executor_(executor) {}

  void fill() {
    for (std::uint32_t rank = 0; rank < memory_.buffers().size(); ++rank) {
      const RankBuffers& buffers = memory_.buffers()[rank];
      std::fill(buffers.output.begin(), buffers.output.end(), kUntouched);
      expectation_.fill(rank, buffers.input);
      executor_.write(AgentId{rank}, Buffer::output, buffers.output);
      executor_.write(AgentId{rank}, Buffer::input, buffers.input);
    }
  }

  void check(TrialOutcome& outcome) {
    for (std::uint32_t rank = 0; rank < memory_.buffers().size(); ++rank) {
      const RankBuffers& buffers = memory_.buffers()[rank];
      executor_.read(AgentId{rank}, Buffer::output, buffers.output);
      const auto wrong = expectation_.wrong(rank, buffers.output);
      if (!wrong) { continue; }
      ++outcome.wrong;
      if (!outcome.first_wrong) { outcome.first_wrong = wrong; }
    }
  }

 private:
  RankMemory memory_;
  Expectation expectation_;
  CudaExecutor& executor_;
};

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(std::string gpus) : gpus_(std::move(gpus)) {}

  std::string_view name() const override { return "cuda"; }
  std::optional<std::uint32_t> ranks() const override { return std::nullopt; }

  TrialOutcome run(const Trial& trial) override {
    require(trial.schedule != nullptr, "the CUDA backend has no library of collectives");
    CudaRequest request;
    request.type = trial.type;
    request.reduction = trial.reduction;
    request.slots = std::max(trial.slots.value_or(request.slots), trial.schedule->least_slots());
    request.time_limit_seconds = std::chrono::duration<double>(trial.time_limit).count();
    CudaExecutor executor(*trial.schedule, request);
    Buffers buffers(trial, executor);
    buffers.fill();
    for (std::uint32_t i = 0; i < trial.warm_up; ++i) { executor.run(); }
    TrialOutcome outcome;
    for (std::uint32_t i = 0; i < trial.iterations; ++i) {
      outcome.durations.push_back(
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(executor.run())));
    }
    buffers.fill();
    executor.run();
    buffers.check(outcome);
    return outcome;
  }

  std::vector<std::pair<std::string, std::string>> facts() const override { return {{"gpu", gpus_}}; }

 private:
  std::string gpus_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() {
  const std::vector<std::string> devices = cuda_devices();
  if (devices.empty()) { throw SimulationError("cuda", "there is no GPU here that CUDA can use"); }
  return std::make_unique<CudaBackend>(counted_models(devices));
}

}  // namespace athanor
