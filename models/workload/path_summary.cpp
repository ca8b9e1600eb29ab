#include "models/workload/path_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace athanor {

namespace {

TransferTime operator+(const TransferTime& a, const TransferTime& b) {
  return {a.bandwidth + b.bandwidth, a.latency + b.latency, a.sharing + b.sharing};
}

/// A message that was under way before the path came to it took less than alone: what is left is split likewise.
TransferTime split(const CriticalPart& part, const WorkloadResult& result) {
  const Time time = part.end - part.begin;
  TransferTime parts;
  parts.sharing = std::max(Time::zero(), time - part.alone);
  const double share = part.estimate == WorkloadEstimates::kNone ? 0 : result.estimates[part.estimate].busiest().share;
  const Time rest = time - parts.sharing;
  parts.bandwidth = Time{std::llround(static_cast<double>(rest.count()) * std::min(share, 1.0))};
  parts.latency = rest - parts.bandwidth;
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
    TransferTime& of_use = summary_.transfers[static_cast<std::size_t>(part.use)];
    of_use = of_use + time;
    const bool estimated = part.estimate != WorkloadEstimates::kNone;
    static const CallEstimate kNoEstimate;
    const CallEstimate& estimate = estimated ? result_.estimates[part.estimate] : kNoEstimate;
    const Key key{part.use, estimate.kind, estimate.size, estimate.algorithm, estimate.protocol};
    CallsOnPath& calls = calls_.try_emplace(key, CallsOnPath{part.use, part.label, part.estimate, 0, {}}).first->second;
    ++calls.count;
    calls.time = calls.time + time;
  }

  const WorkloadResult& result_;
  PathSummary summary_;
  std::map<Key, CallsOnPath> calls_;
};

}  // namespace

PathSummary summary_of_path(const WorkloadResult& result) { return Summing(result).sum(); }

}  // namespace athanor
