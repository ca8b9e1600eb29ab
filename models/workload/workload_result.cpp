#include "models/workload/workload_result.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace athanor {

double WorkloadShares::all_exposed() const { return std::accumulate(exposed.begin(), exposed.end(), 0.0); }

WorkloadShares shares_of(const WorkloadResult& result, Time whole) {
  WorkloadShares shares;
  double all = 0;
  for (const WorkerTime& worker : result.workers) { all += seconds(whole) * worker.ranks; }
  if (all == 0) { return shares; }
  for (const WorkerTime& worker : result.workers) {
    const double weight = worker.ranks / all;
    shares.computing += seconds(worker.computing) * weight;
    shares.waiting += seconds(worker.waiting) * weight;
    for (std::size_t use = 0; use < kParallelisms; ++use) {
      shares.exposed[use] += seconds(worker.exposed[use]) * weight;
    }
  }
  return shares;
}

namespace {

/// A message that was under way before the path came to it took less than alone: what is left is split likewise.
TransferTime split(const CriticalPart& part, const WorkloadResult& result) {
  const Time time = part.end - part.begin;
  TransferTime parts{.transfers = 1};
  parts.sharing = std::max(Time::zero(), time - part.alone);
  const double share = part.estimate == WorkloadEstimates::kNone ? 0 : result.estimates[part.estimate].busiest().share;
  const Time rest = time - parts.sharing;
  parts.transfer = Time{std::llround(static_cast<double>(rest.count()) * std::min(share, 1.0))};
  parts.latency = rest - parts.transfer;
  return parts;
}

class Summing {
  using Key = std::tuple<Parallelism, CollectiveKind, Bytes, std::string, std::string>;

 public:
  explicit Summing(const WorkloadResult& result) : result_(result) {
    summary_.computing.resize(result.labels.size());
    summary_.workers.resize(result.workers.size());
  }

  PathSummary sum() {
    for (const CriticalPart& part : result_.critical) { add(part); }
    for (const auto& [key, calls] : calls_) { summary_.calls.push_back(calls); }
    std::stable_sort(summary_.calls.begin(), summary_.calls.end(),
                     [](const auto& a, const auto& b) { return a.time.total() > b.time.total(); });
    return std::move(summary_);
  }

 private:
  void add(const CriticalPart& part) {
    const Time time = part.end - part.begin;
    summary_.workers[part.worker] += time;
    if (summary_.stretches.empty() || summary_.stretches.back().worker != part.worker) {
      summary_.stretches.push_back({part.worker, part.begin, part.end, {}, {}});
    }
    PathStretch& stretch = summary_.stretches.back();
    stretch.end = part.end;
    switch (part.kind) {
      case CriticalPart::Kind::compute:
        summary_.computing[part.label] += std::min(time, part.alone);
        summary_.slowed += time - std::min(time, part.alone);
        stretch.computing += time;
        return;
      case CriticalPart::Kind::transfer: stretch.communicating += time; return add_transfer(part);
      case CriticalPart::Kind::idle: summary_.idle += time; return;
    }
  }

  void add_transfer(const CriticalPart& part) {
    const TransferTime time = split(part, result_);
    summary_.transfers[static_cast<std::size_t>(part.use)] += time;
    const bool estimated = part.estimate != WorkloadEstimates::kNone;
    static const CallEstimate kNoEstimate;
    const CallEstimate& estimate = estimated ? result_.estimates[part.estimate] : kNoEstimate;
    const Key key{part.use, estimate.kind, estimate.size, estimate.algorithm, estimate.protocol};
    calls_.try_emplace(key, CallsOnPath{part.use, part.label, part.estimate, {}}).first->second.time += time;
  }

  const WorkloadResult& result_;
  PathSummary summary_;
  std::map<Key, CallsOnPath> calls_;
};

}  // namespace

PathSummary summary_of_path(const WorkloadResult& result) { return Summing(result).sum(); }

}  // namespace athanor
