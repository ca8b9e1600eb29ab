#include "models/training/compression_faults.hpp"

#include <fmt/core.h>

#include "models/training/adapters.hpp"
#include "models/training/low_rank_share.hpp"
#include "models/training/parameter_share.hpp"

namespace athanor {

namespace {

using Faults = std::vector<std::string>;

bool needs_whole_gradients(CompressionKind kind) {
  return kind == CompressionKind::top_k || kind == CompressionKind::power_sgd || kind == CompressionKind::one_bit_adam;
}

void check_sharding(const ParallelPlan& plan, Faults& faults) {
  const CompressionKind kind = plan.compression.kind;
  if (plan.sharding != Sharding::none && needs_whole_gradients(kind)) {
    faults.push_back(fmt::format(
        R"(compression by {} gives every copy the whole sum, and sharding of {} leaves each a part: write "sharding": )"
        R"("none", or "compression" of kind fp16, bf16, fp8 or int8)",
        name(kind), name(plan.sharding)));
  }
  if (plan.sharding != Sharding::parameters && kind == CompressionKind::zero_plus_plus) {
    faults.push_back(fmt::format(
        R"(zero_plus_plus (qwZ, hpZ, qgZ) is of sharded parameters, and this is sharding of {}: write "sharding": )"
        R"("parameters")",
        name(plan.sharding)));
  }
}

void check_precision(const ParallelPlan& plan, Faults& faults) {
  const CompressionKind kind = plan.compression.kind;
  const bool casts = kind == CompressionKind::fp16 || kind == CompressionKind::bf16;
  if (casts && plan.gradient_bytes == 2) {
    faults.push_back(fmt::format(
        R"(compression to {} changes nothing: gradients have 2 bytes already; write "gradient_bytes": 4, or leave )"
        R"("compression" out)",
        name(kind)));
  }
  if (!plan.compression.quantized_weights) { return; }
  if (plan.keeps_fp8()) {
    faults.emplace_back(
        R"(qwZ makes int8 of parameters of 16 or 32 bits, and these are kept in fp8: leave "fp8_parameters" out)");
  }
  if (plan.freezes()) {
    faults.emplace_back(
        R"(qwZ is of parameters that are trained, not of frozen ones beside adapters: leave "lora" out)");
  }
}

void check_moments(const ParallelPlan& plan, Faults& faults) {
  if (!plan.compression.sends_moments()) { return; }
  if (plan.optimizer != OptimizerKind::adam) {
    faults.push_back(fmt::format(
        R"(one_bit_adam compresses Adam's first moment, and the optimizer is {}: write "optimizer": "adam")",
        name(plan.optimizer)));
  }
  if (plan.overlap_gradients) {
    faults.emplace_back(
        R"(one_bit_adam sends moments, which are there when backward is over: write "overlap_gradients": false)");
  }
}

/// DeepSpeed's groups are of all ranks.
void check_nodes(const ParallelPlan& plan, Faults& faults) {
  const Compression& compression = plan.compression;
  if (compression.kind != CompressionKind::zero_plus_plus) { return; }
  if (plan.pipeline > 1 || plan.expert > 1 || plan.expert_tensor > 1 || plan.shard_group > 0) {
    faults.emplace_back(
        R"(zero_plus_plus shares all parameters out among all copies: write "pipeline", "expert" and "expert_tensor" )"
        R"(of 1, and leave "shard_group" out)");
  }
  if (!compression.knows_nodes() || compression.node_ranks == 0) { return; }
  const std::uint32_t ranks = dense_replicas(plan);
  if (ranks % std::min(ranks, compression.node_ranks) != 0) {
    faults.push_back(fmt::format(R"({} copies cannot be spread evenly over nodes of "node_ranks": {})", ranks,
                                 compression.node_ranks));
  }
  if (compression.secondary_weights && ranks > 1 && (compression.node_ranks == 1 || compression.node_ranks >= ranks)) {
    faults.push_back(fmt::format(
        R"(hpZ has a second copy in each node of "node_ranks": {} copies, of {}: it saves something where that is 2 or )"
        "more and less than all",
        compression.node_ranks, ranks));
  }
}

}  // namespace

std::vector<std::string> compression_faults(const ParallelPlan& plan) {
  Faults faults;
  if (!plan.compression.is_on()) { return faults; }
  if (plan.has_one_process()) {
    faults.emplace_back(R"(one process adds gradients up as they are: leave "single_process" out, or "compression")");
  }
  check_sharding(plan, faults);
  check_precision(plan, faults);
  check_moments(plan, faults);
  check_nodes(plan, faults);
  return faults;
}

std::vector<std::string> compression_faults(const TrainedModel& model, const ParallelPlan& plan) {
  if (!model.transformer) {
    if (Faults faults = compression_faults(plan); !faults.empty()) { return faults; }
  }
  if (plan.compression.kind != CompressionKind::power_sgd) { return {}; }
  LowRank sum;
  if (model.transformer) {
    sum += low_rank_share(plan.compression, trained_embedding(*model.transformer, plan).matrices);
    for (std::uint32_t layer = 0; layer < model.transformer->layers; ++layer) {
      sum += low_rank_share(plan.compression, trained_share(*model.transformer, plan, layer).matrices);
    }
  }
  for (const PlainLayer& layer : model.layers) { sum += low_rank_share(plan.compression, matrices_of(layer, plan)); }
  if (sum.matrices > 0) { return {}; }
  return {fmt::format("power_sgd of rank {} shrinks no matrix of {} {:g} times: choose a smaller \"rank\"{}",
                      plan.compression.rank, model.name, to_double(plan.compression.least_ratio),
                      model.transformer ? "" : ", and say which layers are matrices: \"rows\"")};
}

}  // namespace athanor
