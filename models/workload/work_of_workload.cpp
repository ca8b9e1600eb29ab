#include "models/workload/work_of_workload.hpp"

#include <utility>

#include "models/execution/work_of_collective.hpp"
#include "models/traffic/work_of_traffic.hpp"
#include "models/workload/run_workload.hpp"

namespace athanor {

WorkCount work_of(const Workload& workload, PricingSettings settings) {
  constexpr double kOperationBytes = 150;  // its entry, its record and its dependencies
  WorkCount work;
  settings.run = [&work](const JobsRequest& request) {
    work += work_of(request);
    JobsResult nothing;
    nothing.jobs.resize(request.jobs.size());
    nothing.time = Time{1};
    return nothing;
  };
  settings.exchange = [&work](const TokenExchange& exchange, const EndpointGroups& groups, const Cluster& cluster,
                              std::uint64_t seed, const NetworkOptions& options) {
    const TrafficMatrix matrix = matrix_of(exchange, groups, cluster);
    if (!matrix.messages.empty()) { work += work_of(matrix, cluster, seed, options); }
    ExchangeTimes nothing;
    nothing.time = Time{1};
    return nothing;
  };
  CollectiveTimer timer(std::move(settings));
  estimate_all(workload, timer);
  for (const Workload::Worker& worker : workload.workers) {
    work[Work::operation] += static_cast<double>(worker.operations.size());
  }
  work.bytes += work[Work::operation] * kOperationBytes;
  return work;
}

}  // namespace athanor
