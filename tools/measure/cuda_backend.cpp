#include "tools/measure/cuda_backend.hpp"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "algorithms/schedule/contract.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tools/measure/machine.hpp"
#include "tools/measure/nccl_library.hpp"

namespace athanor {

namespace {

constexpr const char* kNoGpu = "there is no GPU here that CUDA can use";

/// What carries a trial out on the GPUs: a schedule's executor, or NCCL.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void write(std::uint32_t rank, Buffer buffer, std::span<const std::byte> data) = 0;
  virtual void read(std::uint32_t rank, Buffer buffer, std::span<std::byte> data) const = 0;
  /// Seconds.
  virtual double run() = 0;
};

class ScheduleRunner final : public Runner {
 public:
  explicit ScheduleRunner(const Trial& trial) : executor_(*trial.schedule, request(trial)) {}
  void write(std::uint32_t rank, Buffer buffer, std::span<const std::byte> data) override {
    executor_.write(AgentId{rank}, buffer, data);
  }
  void read(std::uint32_t rank, Buffer buffer, std::span<std::byte> data) const override {
    executor_.read(AgentId{rank}, buffer, data);
  }
  double run() override { return executor_.run(); }

 private:
  static CudaRequest request(const Trial& trial) {
    CudaRequest request;
    request.type = trial.type;
    request.reduction = trial.reduction;
    request.slots = std::max(trial.slots.value_or(request.slots), trial.schedule->least_slots());
    request.time_limit_seconds = std::chrono::duration<double>(trial.time_limit).count();
    return request;
  }
  CudaExecutor executor_;
};

class NcclRunner final : public Runner {
 public:
  NcclRunner(const NcclLibrary& library, const Trial& trial) : collective_(library, trial) {}
  void write(std::uint32_t rank, Buffer buffer, std::span<const std::byte> data) override {
    collective_.write(rank, buffer, data);
  }
  void read(std::uint32_t rank, Buffer buffer, std::span<std::byte> data) const override {
    collective_.read(rank, buffer, data);
  }
  double run() override { return collective_.run(); }

 private:
  NcclCollective collective_;
};

/// The ranks' buffers on this side, with what goes in and what should come out.
class Buffers {
 public:
  Buffers(const Trial& trial, Runner& runner)
      : expectation_(trial.collective, trial.type, trial.reduction), runner_(runner) {
    for (std::uint32_t rank = 0; rank < trial.collective.ranks; ++rank) {
      memory_.emplace_back(user_memory(trial.collective, rank), trial.type);
    }
  }

  void fill() {
    for (std::uint32_t rank = 0; rank < memory_.size(); ++rank) {
      const RankBuffers& buffers = memory_[rank].buffers();
      std::fill(buffers.output.begin(), buffers.output.end(), kUntouched);
      expectation_.fill(rank, buffers.input);
      runner_.write(rank, Buffer::output, buffers.output);
      runner_.write(rank, Buffer::input, buffers.input);
    }
  }

  void check(TrialOutcome& outcome) {
    for (std::uint32_t rank = 0; rank < memory_.size(); ++rank) {
      const RankBuffers& buffers = memory_[rank].buffers();
      runner_.read(rank, Buffer::output, buffers.output);
      const auto wrong = expectation_.wrong(rank, buffers.output);
      if (!wrong) { continue; }
      ++outcome.wrong;
      if (!outcome.first_wrong) { outcome.first_wrong = wrong; }
    }
  }

 private:
  std::vector<UserMemory> memory_;
  Expectation expectation_;
  Runner& runner_;
};

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const std::vector<std::string>& devices)
      : gpus_(devices.size()), models_(counted_models(devices)), nccl_(NcclLibrary::find()) {}

  std::string_view name() const override { return "cuda"; }
  std::optional<std::uint32_t> ranks() const override { return std::nullopt; }

  std::vector<std::string> libraries() const override {
    return nccl_ ? std::vector<std::string>{"nccl"} : std::vector<std::string>{};
  }
  std::optional<std::string> refuses(const Trial& trial) const override {
    return trial.schedule == nullptr ? nccl_refuses(trial, gpus_) : std::nullopt;
  }

  TrialOutcome run(const Trial& trial) override {
    require(trial.schedule != nullptr || nccl_, "a trial of NCCL where there is none");
    std::unique_ptr<Runner> runner;
    if (trial.schedule != nullptr) {
      runner = std::make_unique<ScheduleRunner>(trial);
    } else {
      runner = std::make_unique<NcclRunner>(*nccl_, trial);
    }
    Buffers buffers(trial, *runner);
    buffers.fill();
    TrialOutcome outcome;
    for (std::uint32_t i = 0; i < trial.warm_up && !outcome.interrupted; ++i) {
      runner->run();
      outcome.interrupted = trial.interrupted();
    }
    for (std::uint32_t i = 0; i < trial.iterations && !outcome.interrupted; ++i) {
      outcome.interrupted = trial.interrupted();
      outcome.durations.push_back(
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(runner->run())));
    }
    if (outcome.interrupted) { return outcome; }
    buffers.fill();
    runner->run();
    buffers.check(outcome);
    return outcome;
  }

  std::vector<std::pair<std::string, std::string>> facts() const override {
    std::vector<std::pair<std::string, std::string>> facts{{"gpu", models_}};
    if (nccl_) { facts.emplace_back("nccl", nccl_->version()); }
    return facts;
  }

 private:
  std::size_t gpus_;
  std::string models_;
  std::optional<NcclLibrary> nccl_;
};

}  // namespace

GpuFacts gpu_facts() {
  GpuFacts facts;
  facts.models = cuda_devices();
  if (facts.models.empty()) { throw SimulationError("cuda", kNoGpu); }
  if (std::adjacent_find(facts.models.begin(), facts.models.end(), std::not_equal_to<>()) != facts.models.end()) {
    throw SimulationError("cuda", fmt::format("the GPUs are of several kinds ({}), which one profile cannot describe; "
                                              "choose those of one kind with CUDA_VISIBLE_DEVICES",
                                              counted_models(facts.models)));
  }
  const CudaLimits limits = cuda_limits(0, CudaRequest{}.threads);
  facts.resident_blocks = limits.resident_blocks;
  facts.cache_size = Bytes{limits.cache_bytes};
  return facts;
}

std::vector<std::chrono::nanoseconds> time_on_gpus(const Schedule& schedule, std::uint32_t gpus,
                                                   std::chrono::nanoseconds patience) {
  constexpr std::size_t kWarmUp = 3;
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kMost = 500;
  CudaRequest request;
  request.slots = std::max(request.slots, schedule.least_slots());
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) { request.devices.push_back(static_cast<int>(gpu)); }
  CudaExecutor executor(schedule, request);
  std::vector<std::chrono::nanoseconds> times;
  std::chrono::nanoseconds spent{};
  for (std::size_t i = 0; i < kWarmUp + kFewest || (spent < patience && i < kMost); ++i) {
    const auto time =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(executor.run()));
    if (i >= kWarmUp) { times.push_back(time); }
    spent += time;
  }
  return times;
}

std::unique_ptr<Backend> make_cuda_backend() {
  const std::vector<std::string> devices = cuda_devices();
  if (devices.empty()) { throw SimulationError("cuda", kNoGpu); }
  return std::make_unique<CudaBackend>(devices);
}

}  // namespace athanor
