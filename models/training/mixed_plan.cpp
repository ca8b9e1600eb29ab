#include "models/training/mixed_plan.hpp"

#include "models/training/parallel_plan.hpp"

namespace athanor {

ParallelPlan with_micro_batches(const ParallelPlan& plan, std::uint32_t micro_batches) {
  ParallelPlan own = plan;
  own.mixed.micro_batches.clear();
  own.global_batch = micro_batches * plan.micro_batch * plan.data;
  return own;
}

}  // namespace athanor
