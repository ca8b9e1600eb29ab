#include "tools/measure/cuda_backend.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "algorithms/check/contract.hpp"
#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tools/measure/machine.hpp"
#include "tools/measure/nccl_library.hpp"

namespace athanor {

namespace {

/// What no expected value consists of: an output that nobody has written is then found.
constexpr std::byte kUntouched{0x5A};

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
    for (std::uint32_t i = 0; i < trial.warm_up; ++i) { runner->run(); }
    TrialOutcome outcome;
    for (std::uint32_t i = 0; i < trial.iterations; ++i) {
      outcome.durations.push_back(
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(runner->run())));
    }
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

std::unique_ptr<Backend> make_cuda_backend() {
  const std::vector<std::string> devices = cuda_devices();
  if (devices.empty()) { throw SimulationError("cuda", "there is no GPU here that CUDA can use"); }
  return std::make_unique<CudaBackend>(devices);
}

}  // namespace athanor
