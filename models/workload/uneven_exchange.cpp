#include "models/workload/uneven_exchange.hpp"

#include <algorithm>
#include <cmath>

#include "topologies/cluster.hpp"

namespace athanor {

namespace {

std::vector<LinkShare> shares_of_exchange(const Fabric& fabric, const std::vector<LinkLoad>& loads, Time time) {
  std::vector<LinkShare> shares;
  for (const LinkLoad& load : loads) {
    if (load.carried == Bytes::zero()) { continue; }
    const Time busy = transfer_time(load.carried, fabric.link(load.link).usable);
    shares.push_back({load.link.value, std::min(1.0, seconds(busy) / seconds(time))});
  }
  return shares;
}

/// At most what a byte takes between the ends, and what the busiest link leaves of the time.
Time latency_of_exchange(const CallEstimate& estimate, CollectiveTimer& timer,
                         const std::vector<std::uint32_t>& endpoints) {
  const double busy = std::ceil(estimate.busiest().share * static_cast<double>(estimate.time.count()));
  const Time idle = estimate.time - std::min(estimate.time, Time{static_cast<std::int64_t>(busy)});
  Workload::Channel ends;
  ends.name = "ends";
  ends.pairs = std::make_shared<const EndpointGroups>(EndpointGroups{{endpoints.front(), endpoints.back()}});
  return std::min(idle, timer.estimate(ends, Bytes{1}).time);
}

}  // namespace

CallEstimate estimate_of_exchange(const PricingSettings& settings, CollectiveTimer& timer,
                                  const std::vector<std::uint32_t>& endpoints,
                                  std::shared_ptr<const AllToAllVSizes> sizes) {
  constexpr CollectiveKind kKind = CollectiveKind::all_to_all_v;
  JobsRequest request{.cluster = settings.cluster,
                      .profile = settings.profile,
                      .jobs = {},
                      .options = settings.options,
                      .seed = settings.seed,
                      .aggregation = settings.aggregation,
                      .like_first = true,
                      .bounds = false};
  request.options.each_link = true;
  JobRequest& job = request.jobs.emplace_back();
  job.endpoints = endpoints;
  job.collective.kind = kKind;
  job.collective.ranks = static_cast<std::uint32_t>(endpoints.size());
  job.collective.count = sizes->largest();
  job.collective.sizes = std::move(sizes);
  job.element_size = Bytes{1};
  job.type = DataType::int8;
  job.algorithms = settings.algorithms(kKind);
  job.nccl = settings.nccl ? settings.nccl(endpoints) : nullptr;
  const JobsResult result = settings.run(request);
  const RunResult& alone = result.jobs.front().alone;
  CallEstimate estimate{.time = std::max(result.time, alone.time),
                        .latency = Time::zero(),
                        .size = Bytes{request.jobs.front().collective.count.count()},
                        .kind = kKind,
                        .algorithm = alone.algorithm,
                        .protocol = alone.protocol,
                        .channels = alone.channels,
                        .extrapolated = alone.extrapolated,
                        .shares = nullptr};
  estimate.shares = std::make_shared<const std::vector<LinkShare>>(
      shares_of_exchange(*settings.cluster.fabric, result.simulated.network.loads, estimate.time));
  estimate.latency = latency_of_exchange(estimate, timer, endpoints);
  return estimate;
}

}  // namespace athanor
