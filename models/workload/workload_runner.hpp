#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "models/workload/accounts.hpp"
#include "models/workload/collective_matcher.hpp"
#include "models/workload/program.hpp"
#include "models/workload/run_workload.hpp"
#include "models/workload/transfers.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// How many calls of each estimate may run at once.
std::vector<std::uint32_t> most_at_once(const Workload& workload, const WorkloadEstimates& estimates);

/// How long something went on, counting only once what went on at the same time.
class BusyTime {
 public:
  void begin(Time now) {
    if (running_++ == 0) { since_ = now; }
  }
  void end(Time now) {
    if (--running_ == 0) { total_ += now - since_; }
  }
  Time total() const { return total_; }

 private:
  std::uint32_t running_ = 0;
  Time since_;
  Time total_;
};

/// All workers of a workload on the event core.
class WorkloadRunner final : public Computations::Listener, public Transfers::Listener {
 public:
  /// Borrows all of them.
  WorkloadRunner(const Workload& workload, const WorkloadEstimates& estimates, const WorkloadOptions& options);

  /// Once. Throws as run_workload().
  void run();

  // Of what has run.
  const Records& records() const { return records_; }
  /// Those that there were any of.
  std::vector<CallTime> calls() const;
  /// Of one worker.
  TimeByUse communicating(std::uint32_t worker) const;
  std::uint64_t events() const { return simulator_.events(); }

  void computed(OperationId who) override;
  void transferred(std::uint32_t number) override;

 private:
  struct Transfer {
    std::uint32_t estimate = 0;
    CollectiveMatcher::Members members;
    Time start;
    bool early = false;  ///< a message whose receiver need not have come yet
  };
  struct Communicating {
    std::array<BusyTime, kParallelisms> by_use;
    std::uint32_t running = 0;
  };

  const Workload::Operation& operation(OperationId who) const {
    return programs_[who.worker]->operation(who.operation);
  }
  OperationRecord& record(OperationId who) { return records_[who.worker][who.operation]; }
  Parallelism use(OperationId who) const;

  void start(OperationId who);
  void compute(OperationId who, const Workload::Operation& own);
  void message(OperationId who);
  void early_message(OperationId who);
  void arrived(OperationId sender);
  void hand_over(EarlyMessages& early);
  void transfer(std::uint32_t estimate, CollectiveMatcher::Members members, bool early = false);
  void join(OperationId who);
  void leave(OperationId who);
  void end(OperationId who);
  void drain();
  void count(const Transfer& transfer);
  void require_finished() const;

  const Workload& workload_;
  const WorkloadEstimates& estimates_;
  const WorkloadOptions& options_;
  Simulator simulator_;
  Computations computations_;
  Transfers transfers_;
  CollectiveMatcher meetings_;
  std::vector<std::unique_ptr<Program>> programs_;
  Records records_;
  std::optional<WorkloadTimeline> drawing_;
  std::vector<Transfer> running_;                 ///< by number of the transfer
  std::vector<Communicating> communicating_;      ///< by worker
  std::map<std::uint32_t, EarlyMessages> early_;  ///< by channel
  std::vector<CallTime> call_times_;
  std::uint32_t transfers_begun_ = 0;
  std::deque<OperationId> ended_;
  std::vector<std::uint32_t> released_;
};

}  // namespace athanor
