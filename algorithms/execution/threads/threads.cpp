#include "algorithms/execution/threads/threads.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "algorithms/execution/preparation.hpp"
#include "algorithms/execution/threads/lanes.hpp"
#include "algorithms/execution/threads/workers.hpp"
#include "algorithms/proof/replay.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

void check_buffers(const Schedule& schedule, const ExecutionRequest& request) {
  require(request.buffers.size() == schedule.agent_count().ranks, "{} ranks have {} buffers",
          schedule.agent_count().ranks, request.buffers.size());
  for (std::uint32_t rank = 0; rank < request.buffers.size(); ++rank) {
    require_fit(schedule, AgentId{rank}, request.buffers[rank], request.type);
  }
}

std::uint32_t workers_of(const Schedule& schedule, const ExecutionRequest& request) {
  const AgentCount agent_count = schedule.agent_count();
  if (request.workers) { return std::min(*request.workers, std::max(1U, agent_count.agents)); }
  return std::clamp(std::thread::hardware_concurrency(), 1U, std::max(1U, agent_count.ranks));
}

std::uint32_t at_least_one(std::uint32_t number, const char* what) {
  if (number == 0) { throw UsageError(fmt::format("an execution on threads needs at least one {}", what)); }
  return number;
}

}  // namespace

/// Members in the order in which they need each other.
class PreparedExecution::Parts {
 public:
  Parts(const Schedule& schedule, ExecutionRequest request)
      : schedule_(schedule),
        request_(std::move(request)),
        slots_(at_least_one(request_.slots.value_or(schedule.least_slots()), "slot")),
        worker_count_(at_least_one(workers_of(schedule, request_), "worker")),
        wiring_(checked_wiring(schedule)),
        lanes_(schedule, wiring_,
               make_reducer(request_.type, request_.reduction, request_.engines, schedule.agent_count().ranks),
               agent_memory(), {slots_, request_.messages_may_refer}),
        workers_(lanes_, homes(), worker_count_, request_.pinned) {}

  ExecutionResult run(std::uint32_t iterations) {
    ExecutionResult result{{}, worker_count_};
    for (std::uint32_t i = 0; i < iterations; ++i) {
      const Workers::Report report = workers_.run(request_.time_limit);
      switch (report.outcome) {
        case Workers::Outcome::ended: result.durations.push_back(report.duration); break;
        case Workers::Outcome::deadlocked: explain_deadlock();
        case Workers::Outcome::timed_out: explain_time_limit();
      }
    }
    return result;
  }

 private:
  std::vector<AgentMemory> agent_memory() {
    check_buffers(schedule_, request_);
    const std::size_t size = element_size(request_.type);
    std::vector<AgentMemory> memory;
    for (std::uint32_t agent = 0; agent < schedule_.agent_count().agents; ++agent) {
      const Elements scratch = schedule_.memory(AgentId{agent}).scratch;
      scratch_.emplace_back(static_cast<std::size_t>(scratch.count()) * size);
      const RankBuffers user = agent < request_.buffers.size() ? request_.buffers[agent] : RankBuffers{};
      memory.push_back({user.input.data(), user.output.data(), scratch_.back().bytes().data()});
    }
    return memory;
  }

  std::vector<std::uint32_t> homes() const {
    std::vector<std::uint32_t> homes;
    for (const WiredLane& lane : wiring_.lanes) { homes.push_back(lane.agent.value % worker_count_); }
    return homes;
  }

  /// One interleaving that deadlocks proves it of all, so that the replay finds the same circle.
  [[noreturn]] void explain_deadlock() const {
    const auto violation = Replay(schedule_, wiring_, slots_).run();
    require(violation.has_value(), "all workers sleep, but the schedule can go on: {}", unended());
    fail(schedule_, *violation);
  }

  [[noreturn]] void explain_time_limit() const {
    const std::chrono::duration<double> limit = request_.time_limit;
    throw SimulationError("time-limit", fmt::format("not ended after {:g} s: {}", limit.count(), unended()));
  }

  std::string unended() const {
    constexpr std::uint32_t kShown = 8;
    std::uint32_t found = 0;
    std::string text;
    for (std::uint32_t lane = 0; lane < lanes_.count(); ++lane) {
      if (lanes_.ended(lane) || ++found > kShown) { continue; }
      text += (found > 1 ? "; " : "") + lanes_.describe(lane);
    }
    return found > kShown ? fmt::format("{}; and {} more lanes", text, found - kShown) : text;
  }

  const Schedule& schedule_;
  ExecutionRequest request_;
  std::uint32_t slots_;
  std::uint32_t worker_count_;
  std::vector<PageMemory> scratch_;
  Wiring wiring_;
  Lanes lanes_;
  Workers workers_;
};

PreparedExecution::PreparedExecution(const Schedule& schedule, ExecutionRequest request)
    : parts_(std::make_unique<Parts>(schedule, std::move(request))) {}

PreparedExecution::~PreparedExecution() = default;

ExecutionResult PreparedExecution::run(std::uint32_t iterations) { return parts_->run(iterations); }

ExecutionResult run_on_threads(const Schedule& schedule, const ExecutionRequest& request) {
  return PreparedExecution(schedule, request).run();
}

}  // namespace athanor
