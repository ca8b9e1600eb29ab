#include "models/training/model_states.hpp"

#include <algorithm>

#include "models/training/compression/compression_memory.hpp"
#include "models/training/low_rank_share.hpp"
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
          .master = has_master ? plan.master_bytes : 0.0};
}

namespace {

/// `ranks`: that hold the same.
void add_states(const ParameterShare& held, bool experts, std::uint32_t ranks, const ParallelPlan& plan, bool of_layers,
                MemoryUse& use) {
  const StateBytes bytes = state_bytes(plan, of_layers);
  const double parameters = experts ? held.experts : held.dense;
  const double divisor = shards(plan, ranks);
  const double updating = updating_ranks(held, experts, divisor, plan);
  const auto share = [&](Sharding from, double among) { return plan.sharding >= from ? among : 1.0; };
  use.parameters += parameters * bytes.parameter / share(Sharding::parameters, divisor);
  use.gradients += parameters * bytes.gradient / share(Sharding::gradients, divisor);
  use.optimizer += (parameters * bytes.master + optimizer_state_bytes(parameters, matrices_of(held, experts), plan)) /
                   share(Sharding::optimizer, updating);
}

}  // namespace

void add_states(const ParameterShare& held, double replicas, const ParallelPlan& plan, bool of_layers, MemoryUse& use) {
  const ParameterShare all = times(held, replicas);
  add_states(all, false, dense_replicas(plan), plan, of_layers, use);
  add_states(all, true, expert_replicas(plan), plan, of_layers, use);
}

namespace {

CodingPlace place_of(const ParallelPlan& plan, double ranks) {
  return {ranks, std::min<double>(ranks, std::max(1U, plan.compression.node_ranks)),
          static_cast<double>(plan.gradient_bytes)};
}

GradientPart part_of(const ParameterShare& held, bool experts, const ParallelPlan& plan) {
  GradientPart part{experts ? held.experts : held.dense};
  if (plan.compression.kind == CompressionKind::power_sgd) {
    part.low_rank = low_rank_share(plan.compression, matrices_of(held, experts));
  }
  return part;
}

}  // namespace

void add_compression(const ParameterShare& held, double replicas, const ParallelPlan& plan, bool of_layers,
                     MemoryUse& use) {
  const Compression& compression = plan.compression;
  const ParameterShare all = times(held, replicas);
  for (const bool experts : {false, true}) {
    const double ranks = shards(plan, experts ? expert_replicas(plan) : dense_replicas(plan));
    if (ranks == 1) { continue; }
    const GradientPart part = part_of(all, experts, plan);
    const CodingPlace place = place_of(plan, ranks);
    use.compression += kept_for_coding(compression, part, place);
    if (compression.secondary_weights) {
      use.compression += part.numbers * state_bytes(plan, of_layers).parameter / place.node_ranks;
    }
  }
}

double coded_at_once(const ParameterShare& all, double layer, const ParallelPlan& plan) {
  const double ranks = shards(plan, dense_replicas(plan));
  if (!plan.compression.is_on() || ranks == 1 || all.total() == 0) { return 0; }
  const CodingPlace place = place_of(plan, ranks);
  const bool by_layers = plan.sharding >= Sharding::gradients;
  const double bucket = static_cast<double>(plan.bucket.count()) / plan.gradient_bytes;
  const double numbers = by_layers                ? layer / plan.shard_calls
                         : plan.overlap_gradients ? std::min(bucket, all.total())
                                                  : all.total();
  const GradientPart part = part_of(all, false, plan);
  const double weights =
      plan.compression.quantized_weights ? quantized_bytes(plan.compression, 8) * numbers * (1 + 1 / ranks) : 0;
  return weights + coding_buffers(plan.compression, {numbers, times(part.low_rank, numbers / all.total())}, place);
}

void add_frozen(const FrozenBytes& frozen, double replicas, const ParallelPlan& plan, MemoryUse& use) {
  const bool sharded = plan.sharding == Sharding::parameters;
  use.parameters += replicas * frozen.dense / (sharded ? shards(plan, dense_replicas(plan)) : 1);
  use.parameters += replicas * frozen.experts / (sharded ? shards(plan, expert_replicas(plan)) : 1);
}

}  // namespace athanor
