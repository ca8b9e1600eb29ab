#include "models/training/model_states.hpp"

#include <algorithm>

#include "models/training/work_parts.hpp"

namespace athanor {

double shards(const ParallelPlan& plan, std::uint32_t replicas) {
  return plan.shard_group > 0 ? std::min(plan.shard_group, replicas) : replicas;
}

StateBytes state_bytes(const ParallelPlan& plan, bool of_layers) {
  const WorkSizes sizes = sizes_of(plan);
  const bool casts = sizes.casts && of_layers;
  const double own = sizes.autocast ? 4 : casts && plan.keeps_fp8() ? 0 : sizes.element;
  const double copies = sizes.autocast ? sizes.element : casts ? sizes.cast_writes : 0;
  const bool has_master = sizes.element < 4 && !sizes.autocast;
  return {.parameter = own + copies,
          .gradient = static_cast<double>(plan.gradient_bytes),
          .optimizer = (has_master ? plan.master_bytes : 0.0) + 2.0 * plan.moment_bytes};
}

namespace {

void add_states(double parameters, double divisor, const ParallelPlan& plan, bool of_layers, MemoryUse& use) {
  const StateBytes bytes = state_bytes(plan, of_layers);
  const auto share = [&](Sharding from) { return plan.sharding >= from ? divisor : 1.0; };
  use.parameters += parameters * bytes.parameter / share(Sharding::parameters);
  use.gradients += parameters * bytes.gradient / share(Sharding::gradients);
  use.optimizer += parameters * bytes.optimizer / share(Sharding::optimizer);
}

}  // namespace

void add_states(const ParameterShare& held, double replicas, const ParallelPlan& plan, bool of_layers, MemoryUse& use) {
  add_states(replicas * held.dense, shards(plan, dense_replicas(plan)), plan, of_layers, use);
  add_states(replicas * held.experts, shards(plan, expert_replicas(plan)), plan, of_layers, use);
}

}  // namespace athanor
