#include "models/workload/workload_runner.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/error.hpp"

namespace athanor {

namespace {

using Kind = Workload::Kind;

std::vector<Transfers::Work> works_of(const WorkloadEstimates& estimates) {
  std::vector<Transfers::Work> works;
  for (const CallEstimate* estimate : estimates.estimates) {
    works.push_back({estimate->transfer(), estimate->latency});
  }
  return works;
}

CallShares shares_of(const Workload& workload, const WorkloadEstimates& estimates) {
  std::vector<std::vector<LinkShare>> shares;
  for (const CallEstimate* estimate : estimates.estimates) { shares.push_back(estimate->transfer_shares()); }
  return {shares, most_at_once(workload, estimates)};
}

}  // namespace

/// A stream does one operation after the other, so that there are as many as streams of one worker that call over a
/// communicator, or send over a channel.
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

WorkloadRunner::WorkloadRunner(const Workload& workload, const WorkloadEstimates& estimates,
                               const WorkloadOptions& options)
    : workload_(workload),
      estimates_(estimates),
      options_(options),
      simulator_(options.stop),
      computations_(simulator_, workload.workers.size(), options.interference, *this),
      transfers_(simulator_, works_of(estimates), shares_of(workload, estimates), *this),
      meetings_(workload),
      communicating_(workload.workers.size()) {
  for (const Workload::Worker& worker : workload.workers) {
    programs_.push_back(std::make_unique<Program>(worker));
    records_.emplace_back(worker.operations.size());
  }
  if (options.timeline != nullptr) { drawing_.emplace(*options.timeline, workload, options.drawn_workers); }
  call_times_.resize(estimates.estimates.size());
}

void WorkloadRunner::run() {
  for (std::uint32_t worker = 0; worker < programs_.size(); ++worker) {
    for (const std::uint32_t operation : programs_[worker]->first()) { start({worker, operation}); }
  }
  drain();
  simulator_.run();
  require_finished();
}

std::vector<CallTime> WorkloadRunner::calls() const {
  std::vector<CallTime> calls;
  for (const CallTime& each : call_times_) {
    if (each.count > 0) { calls.push_back(each); }
  }
  return calls;
}

TimeByUse WorkloadRunner::communicating(std::uint32_t worker) const {
  TimeByUse times{};
  for (std::size_t use = 0; use < kParallelisms; ++use) { times[use] = communicating_[worker].by_use[use].total(); }
  return times;
}

void WorkloadRunner::computed(OperationId who) {
  end(who);
  drain();
}

void WorkloadRunner::transferred(std::uint32_t number) {
  const Transfer transfer = std::move(running_[number]);
  count(transfer);
  for (const OperationId who : transfer.members) { leave(who); }
  for (const OperationId who : transfer.members) { end(who); }
  if (transfer.early) { arrived(transfer.members.front()); }
  drain();
}

void WorkloadRunner::start(OperationId who) {
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

void WorkloadRunner::compute(OperationId who, const Workload::Operation& own) {
  Time time = own.time;
  if (options_.computing != 1 && !workload_.workers[who.worker].streams[own.stream].host) {
    time = Time{std::llround(static_cast<double>(time.count()) * options_.computing)};
  }
  return time == Time::zero() ? end(who) : computations_.start(who, time);
}

void WorkloadRunner::message(OperationId who) {
  const Workload::Operation& own = operation(who);
  if (workload_.channels[own.subject].eager) { return early_message(who); }
  if (auto members = meetings_.message(who)) {
    transfer(estimates_.of_message.at({own.subject, own.size}), std::move(*members));
  }
}

/// The sender does not wait for its receiver, who finds the message there or waits for it.
void WorkloadRunner::early_message(OperationId who) {
  const Workload::Operation& own = operation(who);
  EarlyMessages& early = early_[own.subject];
  if (own.kind == Kind::send) {
    early.sent(who);
    return transfer(estimates_.of_message.at({own.subject, own.size}), {who}, true);
  }
  early.receives(who);
  hand_over(early);
}

void WorkloadRunner::arrived(OperationId sender) {
  EarlyMessages& early = early_[operation(sender).subject];
  early.arrived(sender);
  hand_over(early);
}

void WorkloadRunner::hand_over(EarlyMessages& early) {
  while (const auto pair = early.take()) {
    OperationRecord& own = record(pair->receiver);
    own.last = pair->sender;
    own.start = std::max(own.begin, record(pair->sender).start);
    end(pair->receiver);
  }
}

void WorkloadRunner::transfer(std::uint32_t estimate, CollectiveMatcher::Members members, bool early) {
  const Time now = simulator_.now();
  for (const OperationId who : members) {
    record(who).start = now;
    record(who).last = members.back();
    record(who).transfer = transfers_begun_;
  }
  ++transfers_begun_;
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

Parallelism WorkloadRunner::use(OperationId who) const {
  const Workload::Operation& own = operation(who);
  return own.kind == Kind::call ? workload_.communicators[workload_.calls[own.subject].communicator].use
                                : workload_.channels[own.subject].use;
}

void WorkloadRunner::join(OperationId who) {
  auto& busy = communicating_[who.worker];
  busy.by_use[static_cast<std::size_t>(use(who))].begin(simulator_.now());
  if (busy.running++ == 0) { computations_.communicates(who.worker, true); }
}

void WorkloadRunner::leave(OperationId who) {
  auto& busy = communicating_[who.worker];
  busy.by_use[static_cast<std::size_t>(use(who))].end(simulator_.now());
  if (--busy.running == 0) { computations_.communicates(who.worker, false); }
}

void WorkloadRunner::end(OperationId who) {
  record(who).end = simulator_.now();
  if (drawing_) { drawing_->draw(who, record(who), operation(who)); }
  ended_.push_back(who);
}

/// What ends releases others, which may end at once: in turn, not one within the other.
void WorkloadRunner::drain() {
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

void WorkloadRunner::count(const Transfer& transfer) {
  CallTime& own = call_times_[transfer.estimate];
  own.estimate = transfer.estimate;
  own.use = use(transfer.members.front());
  ++own.count;
  own.time += simulator_.now() - transfer.start;
}

void WorkloadRunner::require_finished() const {
  for (const auto& program : programs_) {
    if (program->left() == 0) { continue; }
    throw SimulationError("deadlock", describe_stuck(workload_, programs_, meetings_));
  }
}

}  // namespace athanor
