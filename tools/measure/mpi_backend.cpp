#include "tools/measure/mpi_backend.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include "algorithms/execution/expectation.hpp"
#include "algorithms/execution/mpi/communicator.hpp"
#include "algorithms/execution/mpi/mpi_executor.hpp"
#include "algorithms/execution/mpi/session.hpp"
#include "algorithms/schedule/contract.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "tools/measure/mpi_library.hpp"

namespace athanor {

namespace {

/// A process may come later than another by an iteration, and by what it takes to fill and check its buffers.
std::chrono::nanoseconds meeting_limit(const Trial& trial) {
  return 2 * std::min<std::chrono::nanoseconds>(trial.time_limit, std::chrono::hours{100}) + std::chrono::seconds{30};
}

/// One process's part of a trial: its buffers, and one iteration as a function that returns how long it took.
class OwnPart {
 public:
  OwnPart(const Communicator& world, const Trial& trial)
      : world_(world),
        trial_(trial),
        memory_(user_memory(trial.collective, world.rank()), trial.type),
        expectation_(trial.collective, trial.type, trial.reduction) {
    if (trial.schedule != nullptr) {
      execution_.emplace(world, *trial.schedule,
                         MpiExecutionRequest{.type = trial.type,
                                             .reduction = trial.reduction,
                                             .buffers = memory_.buffers(),
                                             .slots = trial.slots,
                                             .time_limit = trial.time_limit});
    } else {
      library_.emplace(world, trial, memory_.buffers());
      watchdog_.emplace("a collective of the MPI library has not ended in time; some process may have stopped");
    }
  }

  void fill() {
    std::fill(memory_.buffers().output.begin(), memory_.buffers().output.end(), kUntouched);
    expectation_.fill(world_.rank(), memory_.buffers().input);
  }

  std::chrono::nanoseconds iterate() {
    barrier(world_, meeting_limit(trial_));
    if (execution_) { return execution_->run(); }
    watchdog_->watch(trial_.time_limit);
    const auto begin = std::chrono::steady_clock::now();
    library_->run();
    const auto end = std::chrono::steady_clock::now();
    watchdog_->rest();
    return end - begin;
  }

  std::optional<std::string> wrong() const { return expectation_.wrong(world_.rank(), memory_.buffers().output); }

 private:
  const Communicator& world_;
  const Trial& trial_;
  UserMemory memory_;
  Expectation expectation_;
  std::optional<MpiExecution> execution_;
  std::optional<MpiLibraryCollective> library_;
  std::optional<Watchdog> watchdog_;
};

/// The text of one process in all.
std::string told(const Communicator& world, std::uint32_t root, const std::string& text,
                 std::chrono::nanoseconds limit) {
  std::array<char, 256> buffer{};
  text.copy(buffer.data(), buffer.size() - 1);
  broadcast(world, root, std::as_writable_bytes(std::span(buffer)), limit);
  return buffer.data();
}

/// Each process puts in what it knows of itself: its durations, and what is wrong with its output.
TrialOutcome outcome_of_all(const Communicator& world, std::vector<std::int64_t> durations,
                            const std::optional<std::string>& wrong, std::chrono::nanoseconds limit) {
  reduce_to_largest(world, durations, limit);
  std::vector<std::int64_t> wrongs(world.size());
  wrongs[world.rank()] = wrong ? 1 : 0;
  reduce_to_largest(world, wrongs, limit);
  TrialOutcome outcome;
  for (const std::int64_t duration : durations) { outcome.durations.emplace_back(duration); }
  outcome.wrong = static_cast<std::uint64_t>(std::count(wrongs.begin(), wrongs.end(), 1));
  if (outcome.wrong == 0) { return outcome; }
  const auto first = std::find(wrongs.begin(), wrongs.end(), 1) - wrongs.begin();
  outcome.first_wrong = told(world, static_cast<std::uint32_t>(first), wrong.value_or(""), limit);
  return outcome;
}

/// Runs what only one of the processes may fail in.
template <class Work>
auto or_abort(Work work) {
  try {
    return work();
  } catch (const std::exception& error) { MpiSession::abort(error.what()); }
}

/// This thread, and those that it starts, on all processors that the machine has for it; as before at its end.
class Unbound {
 public:
  Unbound() {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) { CPU_ZERO(&before_); }
    cpu_set_t all;
    CPU_ZERO(&all);
    const long processors = std::min<long>(sysconf(_SC_NPROCESSORS_CONF), CPU_SETSIZE);
    for (long i = 0; i < processors; ++i) { CPU_SET(static_cast<std::size_t>(i), &all); }
    sched_setaffinity(0, sizeof all, &all);
  }
  ~Unbound() {
    if (CPU_COUNT(&before_) > 0) { sched_setaffinity(0, sizeof before_, &before_); }
  }
  Unbound(const Unbound&) = delete;
  Unbound& operator=(const Unbound&) = delete;

 private:
  cpu_set_t before_;
};

bool any_of_all(const Communicator& world, bool here) {
  std::array<std::int64_t, 1> value{here ? 1 : 0};
  reduce_to_largest(world, value, std::chrono::minutes{10});
  return value[0] > 0;
}

class Beside final : public Backend {
 public:
  Beside(const Communicator& world, std::unique_ptr<Backend> local) : world_(world), local_(std::move(local)) {}

  std::string_view name() const override { return local_->name(); }
  std::optional<std::uint32_t> ranks() const override { return local_->ranks(); }
  bool speaks() const override { return world_.rank() == 0; }
  bool any(bool here) override { return any_of_all(world_, here); }
  std::vector<std::string> libraries() const override { return local_->libraries(); }
  std::optional<std::string> refuses(const Trial& trial) const override { return local_->refuses(trial); }
  std::vector<std::pair<std::string, std::string>> facts() const override { return local_->facts(); }

  TrialOutcome run(const Trial& trial) override {
    return or_abort([&] {
      TrialOutcome own;
      const auto limit = meeting_limit(trial);
      if (world_.rank() == 0) {
        {
          const Unbound unbound;
          own = local_->run(trial);
        }
        barrier(world_, limit);  // the others are there and sleep
      } else {
        sleeping_barrier(world_, limit * (trial.warm_up + trial.iterations + 1));
      }
      return of_process_0(own, limit);
    });
  }

 private:
  TrialOutcome of_process_0(const TrialOutcome& own, std::chrono::nanoseconds limit) const {
    std::array<std::int64_t, 3> head{static_cast<std::int64_t>(own.wrong), own.interrupted ? 1 : 0,
                                     static_cast<std::int64_t>(own.durations.size())};
    broadcast(world_, 0, std::as_writable_bytes(std::span(head)), limit);
    std::vector<std::int64_t> durations(static_cast<std::size_t>(head[2]));
    for (std::size_t i = 0; i < own.durations.size(); ++i) { durations[i] = own.durations[i].count(); }
    broadcast(world_, 0, std::as_writable_bytes(std::span(durations)), limit);
    TrialOutcome outcome;
    outcome.wrong = static_cast<std::uint64_t>(head[0]);
    outcome.interrupted = head[1] != 0;
    for (const std::int64_t duration : durations) { outcome.durations.emplace_back(duration); }
    if (outcome.wrong > 0) { outcome.first_wrong = told(world_, 0, own.first_wrong.value_or(""), limit); }
    return outcome;
  }

  const Communicator& world_;
  std::unique_ptr<Backend> local_;
};

/// Settings of MPI libraries that change how fast they are, as far as the environment holds them.
std::vector<std::pair<std::string, std::string>> settings() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto starts = [&](std::string_view prefix) { return text.starts_with(prefix); };
    const bool counts = starts("OMPI_MCA_btl") || starts("OMPI_MCA_pml") || starts("OMPI_MCA_mtl") ||
                        starts("OMPI_MCA_coll") || starts("MPIR_CVAR_") || starts("UCX_") || starts("FI_PROVIDER");
    const std::size_t equals = text.find('=');
    if (!counts || equals == std::string_view::npos) { continue; }
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(found.begin(), found.end());
  return found;
}

class MpiProcesses final : public MpiBackend {
 public:
  MpiProcesses() : world_(MPI_COMM_WORLD), facts_(find_facts()) {}

  std::string_view name() const override { return "mpi"; }
  std::optional<std::uint32_t> ranks() const override { return world_.size(); }
  bool speaks() const override { return world_.rank() == 0; }
  bool any(bool here) override { return any_of_all(world_, here); }
  std::vector<std::string> libraries() const override { return {"mpi_library"}; }
  std::vector<std::pair<std::string, std::string>> facts() const override { return facts_; }

  std::optional<std::string> refuses(const Trial& trial) const override {
    return trial.schedule == nullptr ? mpi_library_refuses(trial) : std::nullopt;
  }

  TrialOutcome run(const Trial& trial) override {
    require(trial.collective.ranks == world_.size(), "{} ranks in {} processes", trial.collective.ranks, world_.size());
    require(!refuses(trial), "a trial that was refused is run");
    const std::unique_ptr<OwnPart> own = own_part(trial);
    return or_abort([&] {
      own->fill();
      bool slow = false;
      std::vector<std::int64_t> durations;
      for (std::uint32_t i = 0; i < trial.warm_up + trial.iterations; ++i) {
        const std::int64_t duration = own->iterate().count();
        if (i >= trial.warm_up) { durations.push_back(duration); }
        if (i == 0) { slow = any_of_all(world_, std::chrono::nanoseconds{duration} > kSlow); }
        if (slow && any_of_all(world_, trial.interrupted())) { return interrupted(std::move(durations), trial); }
      }
      own->fill();
      own->iterate();
      return outcome_of_all(world_, std::move(durations), own->wrong(), meeting_limit(trial));
    });
  }

  std::vector<std::chrono::nanoseconds> time(const Schedule& schedule, std::chrono::nanoseconds backoff) override {
    constexpr std::size_t kWarmUp = 2;
    constexpr std::size_t kFewest = 3;
    constexpr std::size_t kMost = 300;
    const std::uint32_t slots = std::max(8U, schedule.least_slots());
    constexpr std::chrono::minutes kLimit{1};
    const UserMemory memory(schedule.memory(AgentId{world_.rank()}), DataType::float32);
    std::fill(memory.buffers().input.begin(), memory.buffers().input.end(), std::byte{0});
    std::fill(memory.buffers().output.begin(), memory.buffers().output.end(), std::byte{0});
    MpiExecution execution(world_, schedule, {.buffers = memory.buffers(), .slots = slots, .time_limit = kLimit});
    return or_abort([&] {
      std::vector<std::chrono::nanoseconds> times;
      std::chrono::nanoseconds spent{};
      for (std::size_t i = 0; i < kWarmUp + kFewest || (spent < backoff && i < kMost); ++i) {
        barrier(world_, kLimit);
        std::array<std::int64_t, 1> slowest{execution.run().count()};
        reduce_to_largest(world_, slowest, kLimit);
        spent += std::chrono::nanoseconds{slowest[0]};
        const bool slow = spent > 20 * backoff;
        if (i >= kWarmUp || (slow && i > 0)) { times.emplace_back(slowest[0]); }
        if (slow && !times.empty()) { break; }
      }
      return times;
    });
  }

  std::unique_ptr<Backend> beside(std::unique_ptr<Backend> local) override {
    return std::make_unique<Beside>(world_, std::move(local));
  }

 private:
  /// Iterations from which on the processes ask each other, after each, whether somebody has interrupted.
  static constexpr std::chrono::milliseconds kSlow{20};

  TrialOutcome interrupted(std::vector<std::int64_t> durations, const Trial& trial) const {
    TrialOutcome outcome = outcome_of_all(world_, std::move(durations), std::nullopt, meeting_limit(trial));
    outcome.interrupted = true;
    return outcome;
  }

  /// What is wrong with a schedule as a whole all processes find alike, and throw. What one of them finds in the
  /// primitives of its own rank ends all.
  std::unique_ptr<OwnPart> own_part(const Trial& trial) const {
    std::unique_ptr<OwnPart> own;
    std::exception_ptr error;
    std::string message;
    try {
      own = std::make_unique<OwnPart>(world_, trial);
    } catch (const std::exception& caught) {
      error = std::current_exception();
      message = caught.what();
    }
    const bool some_can = any_of_all(world_, own != nullptr);
    if (error && some_can) { MpiSession::abort(message); }
    if (error) { std::rethrow_exception(error); }
    return own;
  }

  std::vector<std::pair<std::string, std::string>> find_facts() const {
    constexpr std::chrono::minutes kLimit{1};
    std::vector<std::int64_t> firsts(world_.size());
    firsts[world_.rank()] = world_.first_of_node() ? 1 : 0;
    std::array<std::int64_t, 2> sizes{world_.size_of_node(), -std::int64_t{world_.size_of_node()}};
    reduce_to_largest(world_, firsts, kLimit);
    reduce_to_largest(world_, sizes, kLimit);
    const std::int64_t most = sizes[0];
    const std::int64_t fewest = -sizes[1];
    std::vector<std::pair<std::string, std::string>> facts{
        {"mpi", MpiSession::library()},
        {"hosts", std::to_string(std::count(firsts.begin(), firsts.end(), 1))},
        {"processes_per_host", most == fewest ? std::to_string(most) : fmt::format("{} to {}", fewest, most)}};
    const auto environment = settings();
    facts.insert(facts.end(), environment.begin(), environment.end());
    return facts;
  }

  MpiSession session_;
  Communicator world_;
  std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace

std::unique_ptr<MpiBackend> make_mpi_backend() { return std::make_unique<MpiProcesses>(); }

}  // namespace athanor
