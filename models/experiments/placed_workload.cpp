#include "models/experiments/placed_workload.hpp"

#include <algorithm>
#include <set>

#include "models/workload/workload_runner.hpp"

namespace athanor {

namespace {

using Groups = std::shared_ptr<const EndpointGroups>;

/// Groups of ranks as groups of the endpoints that have these ranks. Groups that are shared stay so.
class GroupMap {
 public:
  explicit GroupMap(const std::vector<std::uint32_t>& endpoints) : endpoints_(endpoints) {}

  Groups of(const Groups& ranks) {
    Groups& mapped = known_[ranks.get()];
    if (mapped) { return mapped; }
    EndpointGroups groups = *ranks;
    for (std::vector<std::uint32_t>& group : groups) {
      for (std::uint32_t& rank : group) { rank = endpoints_.at(rank); }
    }
    return mapped = std::make_shared<const EndpointGroups>(std::move(groups));
  }

 private:
  const std::vector<std::uint32_t>& endpoints_;
  std::map<const EndpointGroups*, Groups> known_;
};

/// How long each link is busy in a step.
std::map<std::uint32_t, double> link_seconds(const std::vector<CallTime>& calls,
                                             const std::vector<CallEstimate>& estimates) {
  std::map<std::uint32_t, double> busy;
  for (const CallTime& call : calls) {
    const CallEstimate& estimate = estimates[call.estimate];
    const double times = static_cast<double>(call.count) * seconds(estimate.time);
    for (const LinkShare& part : *estimate.shares) { busy[part.link] += part.share * times; }
  }
  return busy;
}

}  // namespace

Workload on_endpoints(Workload workload, const std::vector<std::uint32_t>& endpoints) {
  GroupMap map(endpoints);
  for (Workload::Communicator& each : workload.communicators) { each.groups = map.of(each.groups); }
  for (Workload::Channel& each : workload.channels) { each.pairs = map.of(each.pairs); }
  for (Workload::Worker& each : workload.workers) {
    for (std::uint32_t& rank : each.endpoints) { rank = endpoints.at(rank); }
    std::sort(each.endpoints.begin(), each.endpoints.end());
  }
  return workload;
}

PlacedWorkload::PlacedWorkload(const Workload& workload, const std::vector<std::uint32_t>& endpoints,
                               double interference, CollectiveTimer& timer, std::stop_token stop)
    : workload_(workload), interference_(interference), stop_(std::move(stop)) {
  estimates_ = estimate_all(on_endpoints(workload, endpoints), timer);
  for (const CallEstimate* estimate : estimates_.estimates) { own_.push_back(*estimate); }
  for (std::size_t i = 0; i < own_.size(); ++i) { estimates_.estimates[i] = &own_[i]; }
  most_ = most_at_once(workload_, estimates_);
  demand_ = link_demand(estimates_, most_);
  check(workload_);
  run();
  for (const auto& worker : records_) {
    for (const OperationRecord& each : worker) { alone_ = std::max(alone_, each.end); }
  }
}

/// Once, keeping the records.
void PlacedWorkload::run() {
  WorkloadOptions options;
  options.interference = interference_;
  options.critical_path = false;
  options.stop = stop_;
  WorkloadRunner alone(workload_, estimates_, options);
  alone.run();
  records_ = alone.records();
  calls_ = alone.calls();
}

void PlacedWorkload::need_records() {
  if (records_.empty()) { run(); }
}

RepeatedStep PlacedWorkload::beside_others(std::span<const std::uint32_t> links) {
  const auto [found, fresh] = contested_.try_emplace(with_contenders(estimates_, most_, uses(estimates_, links)));
  if (fresh) {
    need_records();
    found->second = contested_step(workload_, estimates_, records_, found->first);
  }
  return {.step = &found->second, .estimates = &estimates_, .most = &most_};
}

std::map<std::uint32_t, std::vector<LinkArc>> PlacedWorkload::arcs(std::span<const std::uint32_t> links) {
  need_records();
  std::map<std::uint32_t, std::vector<LinkArc>> all;
  std::set<std::uint32_t> seen;  // transfers, which several workers take part in
  for (std::uint32_t worker = 0; worker < records_.size(); ++worker) {
    for (std::size_t number = 0; number < records_[worker].size(); ++number) {
      const OperationRecord& record = records_[worker][number];
      if (record.transfer == OperationRecord::kNone || !seen.insert(record.transfer).second) { continue; }
      const CallEstimate& estimate = own_[estimates_.of(workload_.workers[worker].operations[number])];
      const TimeStretch when{record.start, record.end - estimate.latency};
      for (const LinkShare& part : estimate.transfer_shares()) {
        if (part.share > 0 && std::binary_search(links.begin(), links.end(), part.link)) {
          all[part.link].push_back({when, part.share});
        }
      }
    }
  }
  return all;
}

std::map<std::uint32_t, double> PlacedWorkload::busy_seconds() const { return link_seconds(calls_, own_); }

double PlacedWorkload::busiest_link_seconds() const {
  double most = 0;
  for (const auto& [link, time] : busy_seconds()) { most = std::max(most, time); }
  return most;
}

double PlacedWorkload::computing_seconds() {
  need_records();
  double sum = 0;
  for (const WorkerTime& worker : split_time(workload_, records_, alone_)) {
    sum += worker.ranks * seconds(worker.computing);
  }
  return sum;
}

std::size_t PlacedWorkload::remembered() const {
  std::size_t numbers = demand_.size();
  for (const CallEstimate& each : own_) { numbers += each.shares->size(); }
  return numbers;
}

}  // namespace athanor
