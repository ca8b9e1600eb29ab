#include "models/training/memory.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/parameter_share.hpp"
#include "models/training/work_parts.hpp"

namespace athanor {

namespace {

/// Sizes that are kept. `input`: bytes of an element that a product of matrices reads, narrow where it is fp8.
struct Kept {
  WorkSizes sizes;
  double input = 2;
  double local = 0;  ///< elements of the residual stream on this rank: tokens that norms see x hidden
};

Kept kept_sizes(const Transformer& model, const ParallelPlan& plan) {
  Kept kept;
  kept.sizes = sizes_of(plan);
  kept.input = kept.sizes.casts ? kept.sizes.narrow : kept.sizes.element;
  kept.local = kept.sizes.norm_tokens * model.hidden;
  return kept;
}

/// Queries, keys and values, and what softmax leaves: its sums alone where attention is fused; else scores behind
/// softmax, and with dropout its mask and what it lets through.
double attention_core(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes) {
  const Attention& attention = model.attention;
  const double heads = static_cast<double>(attention.heads) / plan.tensor;
  const bool latent = attention.kind == Attention::Kind::latent;
  const double kv_heads = latent ? heads : std::max(1.0, static_cast<double>(attention.kv_heads) / plan.tensor);
  const double query = static_cast<double>(attention.head_size) + attention.rotary_size;
  const double inputs = sizes.tokens * (heads * query + kv_heads * (query + attention.value_size)) * sizes.element;
  if (plan.fused_attention) { return inputs + (plan.recompute == Recompute::selective ? 0 : 4 * sizes.tokens * heads); }
  if (plan.recompute == Recompute::selective) { return inputs; }
  const double scores = plan.micro_batch * heads * plan.sequence * plan.sequence;
  return inputs + scores * (plan.dropout ? 2 * sizes.element + 1 : sizes.element);
}

/// Inputs of the norms of compressed vectors and of heads, and of the products that follow them.
double inner_norms(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Attention& attention = model.attention;
  const double tokens = kept.sizes.tokens;
  if (attention.kind == Attention::Kind::latent) {
    return tokens * (static_cast<double>(attention.query_rank) + attention.kv_rank) * (kept.sizes.element + kept.input);
  }
  if (!attention.norms) { return 0; }
  const double heads = static_cast<double>(attention.heads) + attention.kv_heads;
  return tokens * heads / plan.tensor * attention.head_size * kept.sizes.element;
}

double attention_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const double outputs = head_sizes(model.attention).values / plan.tensor;
  return kept.local * kept.input + inner_norms(model, plan, kept) + attention_core(model, plan, kept.sizes) +
         kept.sizes.tokens * outputs * kept.input;
}

/// What comes in, what the activation function reads, and what it gives.
double mlp_block(const Transformer& model, const Kept& kept, double input_elements, double inner_elements) {
  const double halves = model.gated ? 2 : 1;
  return input_elements * kept.input + inner_elements * (halves * kept.sizes.element + kept.input);
}

double experts_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Experts& experts = *model.experts;
  const double sent = kept.sizes.norm_tokens * experts.chosen;
  const double routed =
      kept.sizes.tokens / plan.tensor * plan.expert_tensor * experts.chosen * plan.busiest_expert_rank();
  const double ffn = static_cast<double>(experts.ffn) / plan.expert_tensor;
  double sum = mlp_block(model, kept, routed * model.hidden, routed * ffn);
  sum += sent * model.hidden * kept.sizes.element;      // what comes back, which the router's weights multiply
  sum += kept.local * kept.sizes.element;               // the router's input
  sum += 4 * kept.sizes.norm_tokens * experts.experts;  // its scores
  const double shared = kept.sizes.tokens * experts.shared_ffn / plan.tensor;
  return sum + (shared > 0 ? mlp_block(model, kept, kept.local, shared) : 0);
}

}  // namespace

double layer_activations(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  const Kept kept = kept_sizes(model, plan);
  if (plan.recompute == Recompute::full) { return kept.local * kept.sizes.element; }
  const double inner = kept.sizes.tokens * model.ffn / plan.tensor;
  double sum = model.norms * kept.local * kept.sizes.element + attention_block(model, plan, kept);
  sum += has_experts(model, layer) ? experts_block(model, plan, kept) : mlp_block(model, kept, kept.local, inner);
  if (plan.dropout) { sum += 2 * kept.local; }
  return sum;
}

namespace {

/// Ranks that a sharded tensor is divided among.
double shards(const ParallelPlan& plan, std::uint32_t replicas) {
  return plan.shard_group > 0 ? std::min(plan.shard_group, replicas) : replicas;
}

/// Bytes of one parameter's parts, and what is shared out.
struct StateBytes {
  double parameter = 2;
  double casts = 0;
  double gradient = 4;
  double optimizer = 12;
};

StateBytes state_bytes(const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  const double casts = sizes.autocast ? sizes.element : sizes.casts ? sizes.cast_writes : 0;
  return {.parameter = sizes.autocast ? 4 : sizes.element,
          .casts = casts,
          .gradient = static_cast<double>(plan.gradient_bytes),
          .optimizer = sizes.element < 4 && !sizes.autocast ? 12.0 : 8.0};
}

/// ZeRO: 4 N + 12 N / d, 2 N + 14 N / d, 16 N / d for d shards (Rajbhandari et al. 2020).
void add_states(double parameters, double divisor, const ParallelPlan& plan, MemoryUse& use) {
  const StateBytes bytes = state_bytes(plan);
  const auto share = [&](Sharding from) { return plan.sharding >= from ? divisor : 1.0; };
  use.parameters += parameters * (bytes.parameter + bytes.casts) / share(Sharding::parameters);
  use.gradients += parameters * bytes.gradient / share(Sharding::gradients);
  use.optimizer += parameters * bytes.optimizer / share(Sharding::optimizer);
}

void add_states(const ParameterShare& held, double replicas, const ParallelPlan& plan, MemoryUse& use) {
  add_states(replicas * held.dense, shards(plan, dense_replicas(plan)), plan, use);
  add_states(replicas * held.experts, shards(plan, expert_replicas(plan)), plan, use);
}

bool recomputed(const ParallelPlan& plan, std::size_t place) {
  return plan.recompute == Recompute::full && (plan.recompute_layers == 0 || place < plan.recompute_layers);
}

/// What layer `place` of the stage keeps of a micro-batch.
double kept_by(const Transformer& model, ParallelPlan plan, std::uint32_t layer, std::size_t place) {
  if (plan.recompute == Recompute::full && !recomputed(plan, place)) { plan.recompute = Recompute::none; }
  return layer_activations(model, plan, layer);
}

double largest_layer(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  double most = 0;
  for (const std::uint32_t layer : stage.layers) { most = std::max(most, layer_share(model, plan, layer).total()); }
  return most;
}

/// Units that are gathered while they compute, and gradients that wait to be scattered.
double gathered(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  if (shards(plan, dense_replicas(plan)) == 1) { return 0; }
  const double unit = largest_layer(model, plan, stage);
  const StateBytes bytes = state_bytes(plan);
  const auto layers = std::min<double>(1.0 + plan.prefetch, static_cast<double>(stage.layers.size()));
  switch (plan.sharding) {
    case Sharding::none:
    case Sharding::optimizer: return 0;
    case Sharding::gradients: return static_cast<double>(plan.bucket.count());
    case Sharding::parameters: return unit * (layers * (bytes.parameter + bytes.casts) + bytes.gradient);
  }
  return 0;
}

/// What the layer that is just recomputed makes anew.
double remade(const Transformer& model, ParallelPlan plan, const StageLoad& stage) {
  const Recompute kind = plan.recompute;
  double most = 0;
  for (std::size_t place = 0; place < stage.layers.size(); ++place) {
    if (kind == Recompute::full && !recomputed(plan, place)) { continue; }
    plan.recompute = Recompute::none;
    const double all = layer_activations(model, plan, stage.layers[place]);
    plan.recompute = kind;
    most = std::max(most, all - layer_activations(model, plan, stage.layers[place]));
  }
  return most;
}

/// Of the one micro-batch whose loss is computed: inputs of the last norm and of the output, and logits in fp32.
double output_activations(const Transformer& model, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  const double inputs = 2 * sizes.norm_tokens * model.hidden * sizes.element;
  return inputs + 4 * sizes.tokens * model.vocabulary / plan.tensor;
}

}  // namespace

MemoryUse memory_of(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  const WorkSizes sizes = sizes_of(plan);
  MemoryUse use;
  ParameterShare held;
  for (std::size_t place = 0; place < stage.layers.size(); ++place) {
    held += layer_share(model, plan, stage.layers[place]);
    use.activations += stage.in_flight * kept_by(model, plan, stage.layers[place], place);
  }
  if (stage.embedding) {
    held.dense += embedding_share(model, plan);
    if (plan.dropout) { use.activations += stage.in_flight * sizes.norm_tokens * model.hidden; }
  }
  if (stage.output) {
    const double heads = 1.0 + model.next_token_layers;
    held.dense += output_share(model, plan, !stage.embedding);
    use.activations += heads * output_activations(model, plan);
  }
  add_states(held, stage.replicas, plan, use);
  use.buffers += gathered(model, plan, stage) + remade(model, plan, stage);
  if (plan.sequence_parallel && plan.tensor > 1) { use.buffers += sizes.tokens * model.hidden * sizes.element; }
  return use;
}

MemoryUse memory_of(const std::vector<PlainLayer>& layers, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  MemoryUse use;
  double parameters = 0;
  double most = 0;
  for (std::size_t place = 0; place < layers.size(); ++place) {
    const PlainLayer& layer = layers[place];
    parameters += layer.parameters;
    most = std::max(most, layer.parameters);
    const double all = std::max(layer.activations, layer.output);
    use.activations += plan.micro_batch * sizes.element * (recomputed(plan, place) ? layer.output : all);
  }
  add_states(parameters, shards(plan, dense_replicas(plan)), plan, use);
  if (plan.sharding == Sharding::parameters && shards(plan, dense_replicas(plan)) > 1) {
    const auto gathered = std::min<double>(1.0 + plan.prefetch, static_cast<double>(layers.size()));
    use.buffers += most * (gathered * sizes.element + plan.gradient_bytes);
  }
  return use;
}

}  // namespace athanor
