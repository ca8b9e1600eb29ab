#include "models/experiments/placed_training.hpp"

#include <algorithm>
#include <map>

#include "models/training/layer_work.hpp"
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

/// The most of all links.
double busiest_link_seconds(const std::vector<CallTime>& calls, const std::vector<CallEstimate>& estimates) {
  double most = 0;
  for (const auto& [link, time] : link_seconds(calls, estimates)) { most = std::max(most, time); }
  return most;
}

}  // namespace

PlacedTraining::PlacedTraining(const Training& training, const Workload& workload,
                               const std::vector<std::uint32_t>& endpoints, CollectiveTimer& timer,
                               std::stop_token stop)
    : training_(training), workload_(workload), stop_(std::move(stop)) {
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
  const ParallelPlan& plan = training_.setup.plan;
  const double flops = model_flops(training_.setup.model, plan) * plan.global_batch;
  intensity_ = flops / std::max(1e-12, busiest_link_seconds(calls_, own_));
}

WorkloadOptions PlacedTraining::options() const {
  WorkloadOptions options;
  options.interference = training_.setup.compute.interference;
  options.critical_path = false;
  options.stop = stop_;
  return options;
}

/// A step, whose records are kept.
void PlacedTraining::run() {
  const WorkloadOptions own = options();
  WorkloadRunner alone(workload_, estimates_, own);
  alone.run();
  records_ = alone.records();
  calls_ = alone.calls();
}

RepeatedStep PlacedTraining::beside_others(std::span<const std::uint32_t> links) {
  const auto [found, fresh] = contested_.try_emplace(uses(estimates_, links));
  if (fresh) {
    if (records_.empty()) { run(); }
    found->second = contested_step(workload_, estimates_, records_, found->first);
  }
  return {.step = &found->second, .estimates = &estimates_, .most = &most_};
}

Time PlacedTraining::with_stragglers(Time period) const {
  return athanor::with_stragglers(period, training_.setup.plan, training_.setup.compute);
}

std::map<std::uint32_t, double> PlacedTraining::busy_seconds() const { return link_seconds(calls_, own_); }

std::size_t PlacedTraining::remembered() const {
  std::size_t numbers = demand_.size();
  for (const CallEstimate& each : own_) { numbers += each.shares->size(); }
  return numbers;
}

}  // namespace athanor
