#include "tools/measure/threads_backend.hpp"

#include <algorithm>
#include <thread>

#include <fmt/core.h>

#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/rank_memory.hpp"
#include "algorithms/execution/threads/threads.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

void fill(const Expectation& expectation, const std::vector<RankBuffers>& buffers) {
  for (std::uint32_t rank = 0; rank < buffers.size(); ++rank) {
    std::fill(buffers[rank].output.begin(), buffers[rank].output.end(), kUntouched);
    expectation.fill(rank, buffers[rank].input);
  }
}

void check(const Expectation& expectation, const std::vector<RankBuffers>& buffers, TrialOutcome& outcome) {
  for (std::uint32_t rank = 0; rank < buffers.size(); ++rank) {
    const auto wrong = expectation.wrong(rank, buffers[rank].output);
    if (!wrong) { continue; }
    ++outcome.wrong;
    if (!outcome.first_wrong) { outcome.first_wrong = wrong; }
  }
}

class ThreadsBackend final : public Backend {
 public:
  explicit ThreadsBackend(std::optional<std::uint32_t> workers) : workers_(workers) {}

  std::string_view name() const override { return "threads"; }
  std::optional<std::uint32_t> ranks() const override { return std::nullopt; }

  TrialOutcome run(const Trial& trial) override {
    require(trial.schedule != nullptr, "threads have no library of collectives");
    const RankMemory memory(*trial.schedule, trial.type);
    const Expectation expectation(trial.collective, trial.type, trial.reduction);
    fill(expectation, memory.buffers());
    PreparedExecution execution(*trial.schedule, {.type = trial.type,
                                                  .reduction = trial.reduction,
                                                  .buffers = memory.buffers(),
                                                  .workers = workers_,
                                                  .slots = trial.slots,
                                                  .time_limit = trial.time_limit,
                                                  .pinned = true});
    TrialOutcome outcome;
    run(trial, execution, trial.warm_up, outcome);
    outcome.durations.clear();
    run(trial, execution, trial.iterations, outcome);
    if (outcome.interrupted) { return outcome; }
    fill(expectation, memory.buffers());
    execution.run();
    check(expectation, memory.buffers(), outcome);
    return outcome;
  }

  std::vector<std::pair<std::string, std::string>> facts() const override {
    return {{"workers", workers_ ? std::to_string(*workers_)
                                 : fmt::format("one per rank, at most {}", std::thread::hardware_concurrency())}};
  }

 private:
  /// So many iterations, in one go as many as take a moment, unless somebody interrupts.
  static void run(const Trial& trial, PreparedExecution& execution, std::uint32_t iterations, TrialOutcome& outcome) {
    constexpr std::chrono::milliseconds kMoment{100};
    std::uint32_t batch = 1;
    for (std::uint32_t done = 0; done < iterations && !outcome.interrupted; done += batch) {
      if (done > 0) {
        const auto last = std::max(outcome.durations.back(), std::chrono::nanoseconds{1});
        batch = static_cast<std::uint32_t>(std::clamp<std::int64_t>(kMoment / last, 1, iterations - done));
      }
      const std::vector<std::chrono::nanoseconds> durations = execution.run(batch).durations;
      outcome.durations.insert(outcome.durations.end(), durations.begin(), durations.end());
      outcome.interrupted = trial.interrupted();
    }
  }

  std::optional<std::uint32_t> workers_;
};

}  // namespace

std::unique_ptr<Backend> make_threads_backend(std::optional<std::uint32_t> workers) {
  return std::make_unique<ThreadsBackend>(workers);
}

}  // namespace athanor
