#include "models/experiments/placed_training.hpp"

#include <algorithm>

#include "models/training/layer_work.hpp"

namespace athanor {

PlacedTraining::PlacedTraining(const Training& training, const Workload& workload,
                               const std::vector<std::uint32_t>& endpoints, CollectiveTimer& timer,
                               std::stop_token stop)
    : training_(training), placed_(workload, endpoints, training.setup.compute.interference, timer, std::move(stop)) {
  const ParallelPlan& plan = training_.setup.plan;
  const double flops = model_flops(training_.setup.model, plan) * plan.global_batch;
  intensity_ = flops / std::max(1e-12, placed_.busiest_link_seconds());
}

Time PlacedTraining::with_stragglers(Time period) const {
  return athanor::with_stragglers(period, training_.setup.plan, training_.setup.compute);
}

}  // namespace athanor
