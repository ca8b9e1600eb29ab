#include "models/training/memory.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/adapters.hpp"
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

/// Queries, keys and values.
double attention_inputs(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes) {
  const Attention& attention = model.attention;
  const double heads = static_cast<double>(attention.heads) / plan.tensor;
  const bool latent = attention.kind == Attention::Kind::latent;
  const double kv_heads = latent ? heads : std::max(1.0, static_cast<double>(attention.kv_heads) / plan.tensor);
  const double query = static_cast<double>(attention.head_size) + attention.rotary_size;
  return sizes.tokens * (heads * query + kv_heads * (query + attention.value_size)) * sizes.element;
}

/// What softmax leaves: its sums alone where attention is fused; else scores behind softmax, and with dropout its mask
/// and what it lets through.
double softmax(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes) {
  const double heads = static_cast<double>(model.attention.heads) / plan.tensor;
  if (plan.fused_attention) { return 4 * sizes.tokens * heads; }
  const double scores = plan.micro_batch * heads * plan.sequence * plan.sequence;
  return scores * (plan.dropout ? 2 * sizes.element + 1 : sizes.element);
}

/// Inputs of the norms of compressed vectors and of heads, and of the products that follow them.
double inner_norms(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Attention& attention = model.attention;
  const double tokens = kept.sizes.tokens;
  if (attention.kind == Attention::Kind::latent) {
    const double products = plan.freezes() ? 0 : kept.input;
    return tokens * (static_cast<double>(attention.query_rank) + attention.kv_rank) * (kept.sizes.element + products);
  }
  if (!attention.norms) { return 0; }
  const double heads = static_cast<double>(attention.heads) + attention.kv_heads;
  return tokens * heads / plan.tensor * attention.head_size * kept.sizes.element;
}

/// Compressed vectors before their norms, and the key that heads share: from these the rest is made again.
double compressed(const Attention& attention, const Kept& kept) {
  const double elements = static_cast<double>(attention.query_rank) + attention.kv_rank + attention.rotary_size;
  return kept.sizes.tokens * elements * kept.sizes.element;
}

/// Whether products need what comes into these matrices once more in backward: for gradients of their weights, or of
/// those of adapters that read the same. The rest of a frozen model needs no inputs of products.
bool needs_inputs(const ParallelPlan& plan, std::initializer_list<LoraTarget> matrices) {
  return !plan.freezes() || std::any_of(matrices.begin(), matrices.end(),
                                        [&](LoraTarget target) { return plan.lora.targets.has(target); });
}

/// What the first of an adapter's two products gives, of each of `matrices`.
double adapter_vectors(const ParallelPlan& plan, const Kept& kept, double tokens,
                       std::initializer_list<LoraTarget> matrices) {
  if (!plan.freezes()) { return 0; }
  const auto adapters =
      std::count_if(matrices.begin(), matrices.end(), [&](LoraTarget target) { return plan.lora.targets.has(target); });
  return tokens * plan.lora.rank * kept.sizes.element * static_cast<double>(adapters);
}

constexpr std::initializer_list<LoraTarget> kAttention{LoraTarget::query, LoraTarget::key, LoraTarget::value,
                                                       LoraTarget::output};
constexpr std::initializer_list<LoraTarget> kMlp{LoraTarget::gate, LoraTarget::up, LoraTarget::down};

double attention_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const double outputs = head_sizes(model.attention).values / plan.tensor;
  // Fused attention needs what it gives for its own backward, too.
  const bool keeps_output = plan.fused_attention || needs_inputs(plan, {LoraTarget::output});
  const bool keeps_input = needs_inputs(plan, {LoraTarget::query, LoraTarget::key, LoraTarget::value});
  double sum = keeps_output ? kept.sizes.tokens * outputs * kept.input : 0;
  sum += adapter_vectors(plan, kept, kept.sizes.tokens, kAttention);
  if (keeps_input && !recomputes(plan, RecomputeModule::layernorm)) { sum += kept.local * kept.input; }
  if (!recomputes(plan, RecomputeModule::core_attn)) { sum += softmax(model, plan, kept.sizes); }
  if (recomputes(plan, RecomputeModule::mla_up_proj)) { return sum + compressed(model.attention, kept); }
  return sum + inner_norms(model, plan, kept) + attention_inputs(model, plan, kept.sizes);
}

/// Whether what an activation function gives is kept for the product behind it.
bool drops_given(const ParallelPlan& plan) { return !needs_inputs(plan, {LoraTarget::down}); }

/// What the activation function reads, and, where it is not made again, what it gives.
double inner_activations(const Transformer& model, const Kept& kept, double elements, bool again) {
  const double halves = model.gated ? 2 : 1;
  return elements * (halves * kept.sizes.element + (again ? 0 : kept.input));
}

double mlp_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const bool norm_again = recomputes(plan, RecomputeModule::layernorm);
  if (recomputes(plan, RecomputeModule::mlp)) { return norm_again ? 0 : kept.local * kept.sizes.element; }
  const double inner = kept.sizes.tokens * model.ffn / plan.tensor;
  const bool keeps_input = needs_inputs(plan, {LoraTarget::gate, LoraTarget::up});
  return (norm_again || !keeps_input ? 0 : kept.local * kept.input) +
         inner_activations(model, kept, inner, drops_given(plan)) +
         adapter_vectors(plan, kept, kept.sizes.tokens, kMlp);
}

double routed_experts(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Experts& experts = *model.experts;
  const double sent = kept.sizes.norm_tokens * experts.chosen;
  const double routed =
      kept.sizes.tokens / plan.tensor * plan.expert_tensor * experts.chosen * plan.busiest_expert_rank();
  const double ffn = static_cast<double>(experts.ffn) / plan.expert_tensor;
  double sum = needs_inputs(plan, {LoraTarget::gate, LoraTarget::up}) ? routed * model.hidden * kept.input : 0;
  sum += adapter_vectors(plan, kept, routed, kMlp);
  sum += inner_activations(model, kept, routed * ffn, drops_given(plan) || recomputes(plan, RecomputeModule::moe_act));
  sum += sent * model.hidden * kept.sizes.element;            // what comes back, which the router's weights multiply
  return sum + 4 * kept.sizes.norm_tokens * experts.experts;  // the router's scores
}

double experts_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const bool norm_again = recomputes(plan, RecomputeModule::layernorm);
  const double norm = norm_again ? 0 : kept.local * kept.sizes.element;  // the router's input
  if (recomputes(plan, RecomputeModule::moe)) { return norm; }
  const double sum = (plan.freezes() ? 0 : norm) + routed_experts(model, plan, kept);
  const double shared = kept.sizes.tokens * model.experts->shared_ffn / plan.tensor;
  if (shared == 0 || recomputes(plan, RecomputeModule::shared_experts)) { return sum; }
  const bool keeps_input = needs_inputs(plan, {LoraTarget::gate, LoraTarget::up});
  return sum + (norm_again || !keeps_input ? 0 : kept.local * kept.input) +
         inner_activations(model, kept, shared, drops_given(plan)) +
         adapter_vectors(plan, kept, kept.sizes.tokens, kMlp);
}

}  // namespace

double layer_activations(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  const Kept kept = kept_sizes(model, plan);
  if (plan.recompute == Recompute::full) { return kept.local * kept.sizes.element; }
  double sum = model.norms * kept.local * kept.sizes.element + attention_block(model, plan, kept);
  sum += has_experts(model, layer) ? experts_block(model, plan, kept) : mlp_block(model, plan, kept);
  if (plan.dropout) { sum += 2 * kept.local; }
  return sum;
}

namespace {

/// Ranks that a sharded tensor is divided among.
double shards(const ParallelPlan& plan, std::uint32_t replicas) {
  return plan.shard_group > 0 ? std::min(plan.shard_group, replicas) : replicas;
}

/// Bytes of one parameter's parts, and what is shared out. Matrices of layers have narrow copies, as they are and
/// transposed, beside the parameter or in its place; embedding and output are never narrow.
struct StateBytes {
  double parameter = 2;  ///< and its copies
  double gradient = 4;
  double master = 4;
};

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

/// ZeRO: 4 N + 12 N / d, 2 N + 14 N / d, 16 N / d for d shards (Rajbhandari et al. 2020). `ranks`: that hold the same.
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

void add_states(const ParameterShare& held, const ParallelPlan& plan, bool of_layers, MemoryUse& use) {
  add_states(held, false, dense_replicas(plan), plan, of_layers, use);
  add_states(held, true, expert_replicas(plan), plan, of_layers, use);
}

/// As parameters are shared out: whole, or a part of each copy.
void add_frozen(const FrozenBytes& frozen, double replicas, const ParallelPlan& plan, MemoryUse& use) {
  const bool sharded = plan.sharding == Sharding::parameters;
  use.parameters += replicas * frozen.dense / (sharded ? shards(plan, dense_replicas(plan)) : 1);
  use.parameters += replicas * frozen.experts / (sharded ? shards(plan, expert_replicas(plan)) : 1);
}

/// `number`: of the layer in its chunk.
bool recomputed(const ParallelPlan& plan, std::size_t number) {
  return plan.recompute == Recompute::full && (plan.recompute_layers == 0 || number < plan.recompute_layers);
}

std::size_t number_in_chunk(const StageLoad& stage, std::size_t place) {
  return stage.in_chunk.empty() ? place : stage.in_chunk[place];
}

bool is_offloaded(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage, std::size_t place) {
  return stage.layers[place] < model.layers && number_in_chunk(stage, place) < plan.offload_layers;
}

/// What layer `place` of the stage has of a micro-batch for backward, on the GPU or in the host's memory.
double kept_by(const Transformer& model, ParallelPlan plan, const StageLoad& stage, std::size_t place) {
  const bool full = plan.recompute == Recompute::full;
  if (full && !recomputed(plan, number_in_chunk(stage, place))) { plan.recompute = Recompute::none; }
  return layer_activations(model, plan, stage.layers[place]);
}

/// What the layer whose activations go to the host, or come back, still or already has on the GPU.
double moving(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  double most = 0;
  for (std::size_t place = 0; place < stage.layers.size(); ++place) {
    if (is_offloaded(model, plan, stage, place)) { most = std::max(most, kept_by(model, plan, stage, place)); }
  }
  return most;
}

/// Parameters of the largest layer that are trained, and bytes of those that are not.
struct Unit {
  double trained = 0;
  double frozen = 0;
};

Unit largest_layer(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  Unit most;
  for (const std::uint32_t layer : stage.layers) {
    most.trained = std::max(most.trained, trained_share(model, plan, layer).total());
    most.frozen = std::max(most.frozen, frozen_bytes(model, plan, layer).total());
  }
  return most;
}

/// A frozen matrix as it is multiplied, where it is kept in fewer bits.
double dequantized(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  double most = 0;
  for (const std::uint32_t layer : stage.layers) { most = std::max(most, dequantized_bytes(model, plan, layer)); }
  return most;
}

/// Of layers, that are gathered at once: a call's share of one is given back before the next call's is gathered, unless
/// that is gathered ahead.
double units_at_once(const ParallelPlan& plan, std::size_t layers) {
  const double ahead = std::min(static_cast<double>(plan.prefetch), static_cast<double>(layers) - 1);
  return ahead > 0 ? 1 + ahead : 1.0 / plan.shard_calls;
}

/// Units that are gathered while they compute, and gradients that wait to be scattered.
double gathered(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  if (shards(plan, dense_replicas(plan)) == 1) { return 0; }
  const Unit unit = largest_layer(model, plan, stage);
  const StateBytes bytes = state_bytes(plan, true);
  switch (plan.sharding) {
    case Sharding::none:
    case Sharding::optimizer: return 0;
    case Sharding::gradients: return static_cast<double>(plan.bucket.count());
    case Sharding::parameters:
      return unit.trained *
                 (units_at_once(plan, stage.layers.size()) * bytes.parameter + bytes.gradient / plan.shard_calls) +
             unit.frozen * units_at_once(plan, stage.layers.size());
  }
  return 0;
}

/// Gradients that are added up over several micro-batches before ranks share them out.
double unreduced(const ParallelPlan& plan, const StageLoad& stage, const ParameterShare& held) {
  if (plan.sharding < Sharding::gradients || plan.reduce_every == 1) { return 0; }
  return stage.replicas * stage.summing * held.total() * plan.gradient_bytes;
}

/// What the layer, or the module of it, that is just recomputed makes anew.
double remade(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  ParallelPlan nothing = plan;
  nothing.recompute = Recompute::none;
  std::vector<ParallelPlan> each_alone{plan};
  if (plan.recompute == Recompute::selective) {
    each_alone.clear();
    for (const RecomputeModule module : plan.recompute_modules.list()) {
      each_alone.push_back(plan);
      each_alone.back().recompute_modules = RecomputeModules({module});
    }
  }
  double most = 0;
  for (std::size_t place = 0; place < stage.layers.size(); ++place) {
    if (plan.recompute == Recompute::full && !recomputed(plan, number_in_chunk(stage, place))) { continue; }
    const double all = layer_activations(model, nothing, stage.layers[place]);
    for (const ParallelPlan& alone : each_alone) {
      most = std::max(most, all - layer_activations(model, alone, stage.layers[place]));
    }
  }
  return most;
}

/// Of the one micro-batch whose loss is computed: inputs of the last norm and, if trained, of the output, and logits in
/// fp32.
double output_activations(const Transformer& model, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  const double inputs = (plan.freezes() ? 1 : 2) * sizes.norm_tokens * model.hidden * sizes.element;
  return inputs + 4 * sizes.tokens * model.vocabulary / plan.tensor;
}

}  // namespace

MemoryUse memory_of(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  const WorkSizes sizes = sizes_of(plan);
  MemoryUse use;
  ParameterShare layers;
  ParameterShare ends;
  FrozenBytes frozen;
  for (std::size_t place = 0; place < stage.layers.size(); ++place) {
    layers += trained_share(model, plan, stage.layers[place]);
    frozen += frozen_bytes(model, plan, stage.layers[place]);
    if (is_offloaded(model, plan, stage, place)) { continue; }
    use.activations += stage.in_flight * kept_by(model, plan, stage, place);
  }
  if (stage.embedding) {
    ends += trained_embedding(model, plan);
    frozen += frozen_ends(embedding_share(model, plan), plan);
    if (plan.dropout && !plan.freezes()) { use.activations += stage.in_flight * sizes.norm_tokens * model.hidden; }
  }
  if (stage.output) {
    const double heads = 1.0 + model.next_token_layers;
    ends += trained_output(model, plan, !stage.embedding);
    frozen += frozen_ends(output_share(model, plan, !stage.embedding), plan);
    use.activations += heads * output_activations(model, plan);
  }
  add_states(times(layers, stage.replicas), plan, true, use);
  add_states(times(ends, stage.replicas), plan, false, use);
  add_frozen(frozen, stage.replicas, plan, use);
  use.gradients += unreduced(plan, stage, layers) + unreduced(plan, stage, ends);
  use.buffers += gathered(model, plan, stage) + remade(model, plan, stage) + moving(model, plan, stage);
  use.buffers += dequantized(model, plan, stage);
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
  add_states({parameters, 0}, plan, true, use);
  if (plan.sharding == Sharding::parameters && shards(plan, dense_replicas(plan)) > 1) {
    const double gradient = static_cast<double>(plan.gradient_bytes) / plan.shard_calls;
    use.buffers += most * (units_at_once(plan, layers.size()) * sizes.element + gradient);
  }
  return use;
}

}  // namespace athanor
