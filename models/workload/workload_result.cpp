#include "models/workload/workload_result.hpp"

#include <numeric>

namespace athanor {

double WorkloadShares::all_exposed() const { return std::accumulate(exposed.begin(), exposed.end(), 0.0); }

WorkloadShares shares_of(const WorkloadResult& result, Time whole) {
  WorkloadShares shares;
  const double all = seconds(whole) * static_cast<double>(result.workers.size());
  if (all == 0) { return shares; }
  for (const WorkerTime& worker : result.workers) {
    shares.computing += seconds(worker.computing) / all;
    shares.waiting += seconds(worker.waiting) / all;
    for (std::size_t use = 0; use < kParallelisms; ++use) { shares.exposed[use] += seconds(worker.exposed[use]) / all; }
  }
  return shares;
}

}  // namespace athanor
