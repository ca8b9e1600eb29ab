#include "models/workload/workload_result.hpp"

#include <numeric>

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

}  // namespace athanor
