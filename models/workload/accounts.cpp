#include "models/workload/accounts.hpp"

#include <algorithm>

namespace athanor {

namespace {

using Kind = Workload::Kind;

bool is_transfer(Kind kind) { return kind == Kind::call || kind == Kind::send || kind == Kind::receive; }

Parallelism use_of(const Workload& workload, const Workload::Operation& operation) {
  return operation.kind == Kind::call ? workload.communicators[workload.calls[operation.subject].communicator].use
                                      : workload.channels[operation.subject].use;
}

/// Splits the time of one worker.
class Account {
 public:
  Account(const Workload& workload, std::uint32_t number, const std::vector<OperationRecord>& records, Time time)
      : workload_(workload), worker_(workload.workers[number]), records_(records), time_(time) {
    result_.labels.resize(workload.labels.size());
  }

  WorkerTime split() {
    Time busy_until;
    for (const std::uint32_t number : computations()) {
      const OperationRecord& record = records_[number];
      if (record.start > busy_until) { give_reasons(record.cause, busy_until, record.start); }
      result_.computing += std::max(record.end, busy_until) - std::max(record.start, busy_until);
      result_.labels[worker_.operations[number].label] += record.end - record.start;
      busy_until = std::max(busy_until, record.end);
    }
    if (busy_until < time_) { give_reasons(last_operation(), busy_until, time_); }
    return std::move(result_);
  }

 private:
  bool computes(std::uint32_t number) const {
    const Workload::Operation& operation = worker_.operations[number];
    return operation.kind == Kind::compute && operation.time > Time::zero() && !worker_.streams[operation.stream].host;
  }

  /// In the order in which they ran.
  std::vector<std::uint32_t> computations() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t number = 0; number < records_.size(); ++number) {
      if (computes(number)) { all.push_back(number); }
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return records_[a].start < records_[b].start; });
    return all;
  }

  std::uint32_t last_operation() const {
    std::uint32_t last = OperationRecord::kNone;
    for (std::uint32_t number = 0; number < records_.size(); ++number) {
      if (last == OperationRecord::kNone || records_[number].end > records_[last].end) { last = number; }
    }
    return last;
  }

  /// Why nothing was computed from one time to another: what was waited for, what that had waited for, and so on.
  void give_reasons(std::uint32_t operation, Time from, Time to) {
    while (to > from && operation != OperationRecord::kNone) {
      const OperationRecord& record = records_[operation];
      const Time end = std::max(from, std::min(record.end, to));
      result_.waiting += to - end;
      to = end;
      const Time start = std::max(from, std::min(record.start, to));
      if (is_transfer(worker_.operations[operation].kind)) {
        result_.exposed[static_cast<std::size_t>(use_of(workload_, worker_.operations[operation]))] += to - start;
      } else {
        result_.waiting += to - start;
      }
      const Time begin = std::max(from, std::min(record.begin, start));
      result_.waiting += start - begin;
      to = begin;
      operation = record.cause;
    }
    if (to > from) { result_.waiting += to - from; }
  }

  const Workload& workload_;
  const Workload::Worker& worker_;
  const std::vector<OperationRecord>& records_;
  Time time_;
  WorkerTime result_;
};

/// What an operation did once it ran.
CriticalPart part_of(const Workload& workload, const WorkloadEstimates& estimates, OperationId who,
                     const OperationRecord& record) {
  const Workload::Operation& operation = workload.workers[who.worker].operations[who.operation];
  CriticalPart part{.worker = who.worker,
                    .label = operation.label,
                    .begin = record.start,
                    .end = record.end,
                    .alone = operation.time};
  if (!is_transfer(operation.kind)) { return part; }
  part.kind = CriticalPart::Kind::transfer;
  part.use = use_of(workload, operation);
  part.estimate = estimates.of(operation);
  part.alone =
      part.estimate == WorkloadEstimates::kNone ? part.end - part.begin : estimates.estimates[part.estimate]->time;
  return part;
}

OperationId last_of_all(const Records& records) {
  OperationId last{OperationRecord::kNone, OperationRecord::kNone};
  Time end{-1};
  for (std::uint32_t worker = 0; worker < records.size(); ++worker) {
    for (std::uint32_t number = 0; number < records[worker].size(); ++number) {
      if (records[worker][number].end <= end) { continue; }
      end = records[worker][number].end;
      last = {worker, number};
    }
  }
  return last;
}

}  // namespace

std::vector<WorkerTime> split_time(const Workload& workload, const Records& records, Time time) {
  std::vector<WorkerTime> times;
  for (std::uint32_t worker = 0; worker < records.size(); ++worker) {
    times.push_back(Account(workload, worker, records[worker], time).split());
    times.back().ranks = workload.workers[worker].ranks;
  }
  return times;
}

std::vector<CriticalPart> critical_path(const Workload& workload, const WorkloadEstimates& estimates,
                                        const Records& records) {
  std::vector<CriticalPart> path;
  OperationId at = last_of_all(records);
  while (at.operation != OperationRecord::kNone) {
    const OperationRecord& record = records[at.worker][at.operation];
    const Workload::Operation& operation = workload.workers[at.worker].operations[at.operation];
    const bool transfer = is_transfer(operation.kind);
    if (record.end > record.start) { path.push_back(part_of(workload, estimates, at, record)); }
    if (transfer && record.last.worker != OperationRecord::kNone && record.last.worker != at.worker &&
        record.start > record.begin) {
      at = record.last;
      at.operation = records[at.worker][at.operation].cause;
    } else {
      if (record.start > record.begin) {
        path.push_back({.kind = CriticalPart::Kind::idle,
                        .worker = at.worker,
                        .label = operation.label,
                        .begin = record.begin,
                        .end = record.start,
                        .alone = record.start - record.begin});
      }
      at.operation = record.cause;
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

WorkloadTimeline::WorkloadTimeline(Timeline& timeline, const Workload& workload, std::uint32_t most)
    : timeline_(timeline), workload_(workload) {
  const std::size_t drawn = std::min<std::size_t>(most, workload.workers.size());
  for (std::size_t worker = 0; worker < drawn; ++worker) {
    const ProcessId process = timeline.add_process(workload.workers[worker].name);
    std::vector<Track>& tracks = tracks_.emplace_back();
    for (const Workload::Stream& stream : workload.workers[worker].streams) {
      tracks.push_back(timeline.add_track(process, stream.name));
    }
  }
}

void WorkloadTimeline::draw(OperationId who, const OperationRecord& record, const Workload::Operation& operation) {
  if (who.worker >= tracks_.size() || record.end == record.begin) { return; }
  const Track track = tracks_[who.worker][operation.stream];
  const std::string& label = workload_.labels[operation.label];
  if (operation.kind == Workload::Kind::compute) {
    return timeline_.span(track, label, "compute", record.start, record.end, {{"operation", who.operation}});
  }
  if (record.start > record.begin) {
    timeline_.span(track, "wait", "wait", record.begin, record.start, {{"for", label}});
  }
  if (record.end == record.start) { return; }
  const bool call = operation.kind == Workload::Kind::call;
  const Bytes size = call ? workload_.calls[operation.subject].size : operation.size;
  const Parallelism use = call ? workload_.communicators[workload_.calls[operation.subject].communicator].use
                               : workload_.channels[operation.subject].use;
  timeline_.span(track, label, name(use), record.start, record.end, {{"bytes", size.count()}});
}

}  // namespace athanor
