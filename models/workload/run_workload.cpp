#include "models/workload/run_workload.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "models/workload/accounts.hpp"
#include "models/workload/collective_matcher.hpp"
#include "models/workload/program.hpp"
#include "models/workload/transfers.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

using Kind = Workload::Kind;

/// How many calls of each estimate may run at once: a stream does one operation after the other, so that there are as
/// many as streams of one worker that call over a communicator, or send over a channel.
std::vector<std::uint32_t> most_at_once(const Workload& workload, const WorkloadEstimates& estimates) {
  std::set<std::array<std::uint32_t, 4>> streams;  // estimate, kind, communicator or channel, stream
  for (std::uint32_t worker = 0; worker < workload.workers.size(); ++worker) {
    for (const Workload::Operation& each : workload.workers[worker].operations) {
      const bool calls = each.kind == Kind::call;
      if (!calls && each.kind != Kind::send) { continue; }
      const std::uint32_t through = calls ? workload.calls[each.subject].communicator : each.subject;
      if (calls && workload.communicators[through].workers.front() != worker) { continue; }
      streams.insert({estimates.of(each), calls ? 1U : 0U, through, each.stream});
    }
  }
  std::vector<std::uint32_t> most(estimates.estimates.size());
  for (const auto& each : streams) { ++most[each.front()]; }
  return most;
}

std::vector<Transfers::Work> works_of(const Workload& workload, const WorkloadEstimates& estimates) {
  const std::vector<std::uint32_t> most = most_at_once(workload, estimates);
  std::vector<Transfers::Work> works;
  for (std::size_t i = 0; i < most.size(); ++i) {
    works.push_back({estimates.estimates[i]->transfer(), estimates.estimates[i]->latency, most[i]});
  }
  return works;
}

std::vector<std::vector<LinkShare>> shares_of(const WorkloadEstimates& estimates) {
  std::vector<std::vector<LinkShare>> shares;
  for (const CallEstimate* estimate : estimates.estimates) { shares.push_back(estimate->transfer_shares()); }
  return shares;
}

/// How long something went on, counting only once what went on at the same time.
class Busy {
 public:
  void begin(Time now) {
    if (running_++ == 0) { since_ = now; }
  }
  void end(Time now) {
    if (--running_ == 0) { total_ += now - since_; }
  }
  bool busy() const { return running_ > 0; }
  Time total() const { return total_; }

 private:
  std::uint32_t running_ = 0;
  Time since_;
  Time total_;
};

/// All workers on the event core.
class Run final : public Computations::Listener, public Transfers::Listener {
 public:
  Run(const Workload& workload, const WorkloadEstimates& estimates, const WorkloadOptions& options)
      : workload_(workload),
        estimates_(estimates),
        options_(options),
        simulator_(options.stop),
        computations_(simulator_, workload.workers.size(), options.interference, *this),
        transfers_(simulator_, works_of(workload, estimates), shares_of(estimates), *this),
        meetings_(workload),
        communicating_(workload.workers.size()) {
    for (const Workload::Worker& worker : workload.workers) {
      programs_.push_back(std::make_unique<Program>(worker));
      records_.emplace_back(worker.operations.size());
    }
    if (options.timeline != nullptr) { drawing_.emplace(*options.timeline, workload, options.drawn_workers); }
    call_times_.resize(estimates.estimates.size());
  }

  WorkloadResult run() {
    for (std::uint32_t worker = 0; worker < programs_.size(); ++worker) {
      for (const std::uint32_t operation : programs_[worker]->first()) { start({worker, operation}); }
    }
    drain();
    simulator_.run();
    require_finished();
    return result();
  }

  void computed(OperationId who) override {
    end(who);
    drain();
  }

  void transferred(std::uint32_t number) override {
    const Transfer transfer = std::move(running_[number]);
    count(transfer);
    for (const OperationId who : transfer.members) { leave(who); }
    for (const OperationId who : transfer.members) { end(who); }
    if (transfer.early) { arrived(transfer.members.front()); }
    drain();
  }

 private:
  struct Transfer {
    std::uint32_t estimate = 0;
    CollectiveMatcher::Members members;
    Time start;
    bool early = false;  ///< a message whose receiver need not have come yet
  };
  const Workload::Operation& operation(OperationId who) const {
    return programs_[who.worker]->operation(who.operation);
  }
  OperationRecord& record(OperationId who) { return records_[who.worker][who.operation]; }

  void start(OperationId who) {
    const Workload::Operation& own = operation(who);
    record(who).begin = record(who).start = simulator_.now();
    switch (own.kind) {
      case Kind::mark: return end(who);
      case Kind::compute: return compute(who, own);
      case Kind::call:
        if (auto members = meetings_.call(who)) { transfer(estimates_.of_call[own.subject], std::move(*members)); }
        return;
      case Kind::send:
      case Kind::receive: return message(who);
    }
  }

  void compute(OperationId who, const Workload::Operation& own) {
    Time time = own.time;
    if (options_.computing != 1 && !workload_.workers[who.worker].streams[own.stream].host) {
      time = Time{std::llround(static_cast<double>(time.count()) * options_.computing)};
    }
    return time == Time::zero() ? end(who) : computations_.start(who, time);
  }

  void message(OperationId who) {
    const Workload::Operation& own = operation(who);
    if (workload_.channels[own.subject].eager) { return early_message(who); }
    if (auto members = meetings_.message(who)) {
      transfer(estimates_.of_message.at({own.subject, own.size}), std::move(*members));
    }
  }

  /// The sender does not wait for its receiver, who finds the message there or waits for it.
  void early_message(OperationId who) {
    const Workload::Operation& own = operation(who);
    EarlyMessages& early = early_[own.subject];
    if (own.kind == Kind::send) {
      early.sent(who);
      return transfer(estimates_.of_message.at({own.subject, own.size}), {who}, true);
    }
    early.receives(who);
    hand_over(early);
  }
  void arrived(OperationId sender) {
    EarlyMessages& early = early_[operation(sender).subject];
    early.arrived(sender);
    hand_over(early);
  }
  void hand_over(EarlyMessages& early) {
    while (const auto pair = early.take()) {
      OperationRecord& own = record(pair->receiver);
      own.last = pair->sender;
      own.start = std::max(own.begin, record(pair->sender).start);
      end(pair->receiver);
    }
  }

  void transfer(std::uint32_t estimate, CollectiveMatcher::Members members, bool early = false) {
    const Time now = simulator_.now();
    for (const OperationId who : members) {
      record(who).start = now;
      record(who).last = members.back();
    }
    if (options_.free_communication || estimates_.estimates[estimate]->time == Time::zero()) {
      for (const OperationId who : members) { end(who); }
      if (early) { arrived(members.front()); }
      return;
    }
    for (const OperationId who : members) { join(who); }
    const std::uint32_t number = transfers_.start(estimate);
    if (number >= running_.size()) { running_.resize(number + 1); }
    running_[number] = {estimate, std::move(members), now, early};
  }

  Parallelism use(OperationId who) const {
    const Workload::Operation& own = operation(who);
    return own.kind == Kind::call ? workload_.communicators[workload_.calls[own.subject].communicator].use
                                  : workload_.channels[own.subject].use;
  }

  void join(OperationId who) {
    auto& busy = communicating_[who.worker];
    busy.by_use[static_cast<std::size_t>(use(who))].begin(simulator_.now());
    if (busy.running++ == 0) { computations_.communicates(who.worker, true); }
  }
  void leave(OperationId who) {
    auto& busy = communicating_[who.worker];
    busy.by_use[static_cast<std::size_t>(use(who))].end(simulator_.now());
    if (--busy.running == 0) { computations_.communicates(who.worker, false); }
  }

  void end(OperationId who) {
    record(who).end = simulator_.now();
    if (drawing_) { drawing_->draw(who, record(who), operation(who)); }
    ended_.push_back(who);
  }

  /// What ends releases others, which may end at once: in turn, not one within the other.
  void drain() {
    while (!ended_.empty()) {
      const OperationId who = ended_.front();
      ended_.pop_front();
      released_.clear();
      programs_[who.worker]->end(who.operation, released_);
      for (const std::uint32_t next : released_) {  // starting one releases none: what ends waits in ended_
        record({who.worker, next}).cause = who.operation;
        start({who.worker, next});
      }
    }
  }

  void count(const Transfer& transfer) {
    CallTime& own = call_times_[transfer.estimate];
    own.estimate = transfer.estimate;
    own.use = use(transfer.members.front());
    ++own.count;
    own.time += simulator_.now() - transfer.start;
  }

  void require_finished() const {
    for (const auto& program : programs_) {
      if (program->left() == 0) { continue; }
      throw SimulationError("deadlock", describe_stuck(workload_, programs_, meetings_));
    }
  }

  WorkloadResult result() {
    WorkloadResult result;
    for (const auto& records : records_) {
      for (const OperationRecord& each : records) { result.time = std::max(result.time, each.end); }
      result.operations += records.size();
    }
    result.workers = split_time(workload_, records_, result.time);
    for (std::size_t worker = 0; worker < communicating_.size(); ++worker) {
      for (std::size_t each = 0; each < kParallelisms; ++each) {
        result.workers[worker].communicating[each] = communicating_[worker].by_use[each].total();
      }
    }
    for (const CallTime& each : call_times_) {
      if (each.count > 0) { result.calls.push_back(each); }
    }
    if (options_.critical_path) { result.critical = critical_path(workload_, estimates_, records_); }
    for (const CallEstimate* each : estimates_.estimates) { result.estimates.push_back(*each); }
    for (const Workload::Worker& each : workload_.workers) { result.names.push_back(each.name); }
    result.labels = workload_.labels;
    result.events = simulator_.events();
    return result;
  }

  struct Communicating {
    std::array<Busy, kParallelisms> by_use;
    std::uint32_t running = 0;
  };

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
  std::deque<OperationId> ended_;
  std::vector<std::uint32_t> released_;
};

}  // namespace

WorkloadEstimates estimate_all(const Workload& workload, CollectiveTimer& timer) {
  WorkloadEstimates estimates;
  std::map<const CallEstimate*, std::uint32_t> numbers;
  const auto number = [&](const CallEstimate& estimate) {
    const auto [found, fresh] = numbers.try_emplace(&estimate, static_cast<std::uint32_t>(estimates.estimates.size()));
    if (fresh) { estimates.estimates.push_back(&estimate); }
    return found->second;
  };
  for (const Workload::Call& call : workload.calls) {
    estimates.of_call.push_back(number(timer.estimate(workload, call)));
  }
  for (const Workload::Worker& worker : workload.workers) {
    for (const Workload::Operation& operation : worker.operations) {
      if (operation.kind != Kind::send) { continue; }
      const auto [found, fresh] = estimates.of_message.try_emplace({operation.subject, operation.size}, 0);
      if (fresh) { found->second = number(timer.estimate(workload.channels[operation.subject], operation.size)); }
    }
  }
  return estimates;
}

WorkloadResult run_workload(const Workload& workload, const WorkloadEstimates& estimates,
                            const WorkloadOptions& options) {
  check(workload);
  require(options.interference >= 0 && options.computing > 0, "computing takes {} of its time, and {} more",
          options.computing, options.interference);
  return Run(workload, estimates, options).run();
}

}  // namespace athanor
