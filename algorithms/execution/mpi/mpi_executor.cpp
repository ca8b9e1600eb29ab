#include "algorithms/execution/mpi/mpi_executor.hpp"

#include <vector>

#include <fmt/core.h>

#include "algorithms/execution/elements.hpp"
#include "algorithms/execution/mpi/process_lanes.hpp"
#include "algorithms/execution/preparation.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// After so long without anything to do, receives that were put off get a slot: much longer than a large message takes.
constexpr std::chrono::milliseconds kPutOffAtMost{20};

const Schedule& of_as_many_ranks(const Communicator& communicator, const Schedule& schedule) {
  const std::uint32_t ranks = schedule.agent_count().ranks;
  if (ranks == communicator.size()) { return schedule; }
  throw UsageError(
      fmt::format("a schedule for {} ranks cannot be carried out by {} MPI processes; start as many as "
                  "there are ranks (mpirun -n {})",
                  ranks, communicator.size(), ranks));
}

std::uint32_t enough_slots(const Schedule& schedule, std::optional<std::uint32_t> slots) {
  const std::uint32_t least = schedule.least_slots();
  if (slots.value_or(least) >= least) { return slots.value_or(least); }
  throw UsageError(fmt::format("{} slots per connection where the schedule needs {}", *slots, least));
}

}  // namespace

/// Members in the order in which they need each other.
class MpiExecution::Parts {
 public:
  Parts(const Communicator& communicator, const Schedule& schedule, const MpiExecutionRequest& request)
      : communicator_(communicator),
        request_(request),
        wiring_(checked_wiring(of_as_many_ranks(communicator, schedule), AgentId{communicator.rank()},
                               communicator.size())),
        lanes_(communicator, schedule, wiring_,
               make_reducer(request.type, request.reduction, request.engines, schedule.agent_count().ranks),
               agent_memory(schedule), enough_slots(schedule, request.slots)) {}

  std::chrono::nanoseconds run() {
    require(!broken_, "an execution that has failed is run again");
    broken_ = true;
    const auto begin = std::chrono::steady_clock::now();
    Backoff backoff(communicator_.size_of_node(), request_.time_limit);
    lanes_.start();
    while (!lanes_.ended()) {
      if (!backoff.goes_on(lanes_.progress())) { explain_time_limit(); }
      if (backoff.idle_for(kPutOffAtMost)) { lanes_.post_all(); }
    }
    broken_ = false;
    return std::chrono::steady_clock::now() - begin;
  }

 private:
  std::vector<AgentMemory> agent_memory(const Schedule& schedule) {
    const AgentId own{communicator_.rank()};
    require_fit(schedule, own, request_.buffers, request_.type);
    std::vector<AgentMemory> memory(schedule.agent_count().agents);
    memory[own.value] = {request_.buffers.input.data(), request_.buffers.output.data(), nullptr};
    for (AgentId agent = own; agent.value < memory.size(); agent.value += communicator_.size()) {
      const Elements scratch = schedule.memory(agent).scratch;
      scratch_.emplace_back(static_cast<std::size_t>(scratch.count()) * element_size(request_.type));
      memory[agent.value].scratch = scratch_.back().bytes().data();
    }
    return memory;
  }

  [[noreturn]] void explain_time_limit() const {
    const std::chrono::duration<double> limit = request_.time_limit;
    throw SimulationError("time-limit", fmt::format("not ended after {:g} s: {}", limit.count(), lanes_.obstacles()));
  }

  const Communicator& communicator_;
  MpiExecutionRequest request_;
  std::vector<PageMemory> scratch_;
  Wiring wiring_;
  ProcessLanes lanes_;
  bool broken_ = false;  ///< or being run
};

MpiExecution::MpiExecution(const Communicator& communicator, const Schedule& schedule,
                           const MpiExecutionRequest& request)
    : parts_(std::make_unique<Parts>(communicator, schedule, request)) {}

MpiExecution::~MpiExecution() = default;

std::chrono::nanoseconds MpiExecution::run() { return parts_->run(); }

}  // namespace athanor
