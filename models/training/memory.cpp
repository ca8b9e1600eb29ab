#include "models/training/memory.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/element_wise.hpp"
#include "models/training/model_states.hpp"
#include "models/training/one_process.hpp"
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
    return tokens * (static_cast<double>(attention.query_rank) + attention.kv_rank) * (kept.sizes.element + kept.input);
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

double attention_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const double outputs = head_sizes(model.attention).values / plan.tensor;
  double sum = kept.sizes.tokens * outputs * kept.input;
  if (!recomputes(plan, RecomputeModule::layernorm)) { sum += kept.local * kept.input; }
  if (!recomputes(plan, RecomputeModule::core_attn)) { sum += softmax(model, plan, kept.sizes); }
  if (recomputes(plan, RecomputeModule::mla_up_proj)) { return sum + compressed(model.attention, kept); }
  return sum + inner_norms(model, plan, kept) + attention_inputs(model, plan, kept.sizes);
}

/// What the activation function reads, and, where it is not made again, what it gives.
double inner_activations(const Transformer& model, const Kept& kept, double elements, bool again) {
  const double halves = model.gated ? 2 : 1;
  return elements * (halves * kept.sizes.element + (again ? 0 : kept.input));
}

double mlp_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const bool norm_again = recomputes(plan, RecomputeModule::layernorm);
  if (recomputes(plan, RecomputeModule::mlp)) { return norm_again ? 0 : kept.local * kept.sizes.element; }
  const double inner = kept.sizes.tokens * model.ffn / plan.tensor;
  return (norm_again ? 0 : kept.local * kept.input) + inner_activations(model, kept, inner, false);
}

double routed_experts(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const Experts& experts = *model.experts;
  const double sent = kept.sizes.norm_tokens * experts.chosen;
  const double routed =
      kept.sizes.tokens / plan.tensor * plan.expert_tensor * experts.chosen * plan.busiest_expert_rank();
  const double ffn = static_cast<double>(experts.ffn) / plan.expert_tensor;
  double sum = routed * model.hidden * kept.input;
  sum += inner_activations(model, kept, routed * ffn, recomputes(plan, RecomputeModule::moe_act));
  sum += sent * model.hidden * kept.sizes.element;            // what comes back, which the router's weights multiply
  return sum + 4 * kept.sizes.norm_tokens * experts.experts;  // the router's scores
}

double experts_block(const Transformer& model, const ParallelPlan& plan, const Kept& kept) {
  const bool norm_again = recomputes(plan, RecomputeModule::layernorm);
  const double norm = norm_again ? 0 : kept.local * kept.sizes.element;  // the router's input
  if (recomputes(plan, RecomputeModule::moe)) { return norm; }
  const double sum = norm + routed_experts(model, plan, kept);
  const double shared = kept.sizes.tokens * model.experts->shared_ffn / plan.tensor;
  if (shared == 0 || recomputes(plan, RecomputeModule::shared_experts)) { return sum; }
  return sum + (norm_again ? 0 : kept.local * kept.input) + inner_activations(model, kept, shared, false);
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

double largest_layer(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  double most = 0;
  for (const std::uint32_t layer : stage.layers) { most = std::max(most, layer_share(model, plan, layer).total()); }
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
  const double unit = largest_layer(model, plan, stage);
  const StateBytes bytes = state_bytes(plan, true);
  switch (plan.sharding) {
    case Sharding::none:
    case Sharding::optimizer: return 0;
    case Sharding::gradients: return static_cast<double>(plan.bucket.count());
    case Sharding::parameters:
      return unit * (units_at_once(plan, stage.layers.size()) * bytes.parameter + bytes.gradient / plan.shard_calls);
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

/// Of the last norm and of the output.
double output_inputs(const Transformer& model, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  return 2 * sizes.norm_tokens * model.hidden * sizes.element;
}

/// Of the one micro-batch whose loss is computed: these inputs, and logits in fp32.
double output_activations(const Transformer& model, const ParallelPlan& plan) {
  return output_inputs(model, plan) + 4 * sizes_of(plan).tokens * model.vocabulary / plan.tensor;
}

}  // namespace

namespace {

/// PyTorch drops gradients after the optimizer, where the optimizer's kernels do not set them to zero instead.
bool gradients_stay(const ParallelPlan& plan) { return !plan.casts_parameters() || plan.micro_batches() > 1; }

/// Of all parameters of a whole model on one GPU.
MemoryUse states_of_module(const MemoryUse& all, const ParallelPlan& plan) {
  MemoryUse states = all;
  states.activations = states.buffers = 0;
  if (!gradients_stay(plan)) { states.gradients = 0; }
  return states;
}

/// In forward order: embedding, layers, and all that stands behind them. A matrix that embedding and output share has
/// gradients from the output's backward on.
std::vector<LayerMemory> layers_of_process(const Transformer& model, const ParallelPlan& plan, const StageLoad& all) {
  const WorkSizes sizes = sizes_of(plan);
  const double heads = 1.0 + model.next_token_layers;
  const double shared = model.tied ? word_embedding_share(model, plan) : 0;
  std::vector<LayerMemory> layers{{plan.dropout ? sizes.norm_tokens * model.hidden : 0,
                                   (embedding_share(model, plan) - shared) * plan.gradient_bytes}};
  for (std::size_t place = 0; place < all.layers.size(); ++place) {
    layers.push_back({is_offloaded(model, plan, all, place) ? 0 : kept_by(model, plan, all, place),
                      layer_share(model, plan, all.layers[place]).total() * plan.gradient_bytes});
  }
  layers.push_back(
      {heads * output_inputs(model, plan), (output_share(model, plan, false) + shared) * plan.gradient_bytes});
  return layers;
}

/// `states`: of all parameters, the rest of it ignored.
OneProcessMemory of_process(const Transformer& model, const ParallelPlan& plan, const StageLoad& all,
                            const MemoryUse& states) {
  const WorkSizes sizes = sizes_of(plan);
  const double logits = outputs_of(model, plan);
  OneProcessLoad load;
  load.layers = layers_of_process(model, plan, all);
  load.states = states_of_module(states, plan);
  load.buffers = remade(model, plan, all) + moving(model, plan, all);
  load.inputs = token_bytes(plan);
  load.targets = plan.data * token_bytes(plan);
  load.output = logits * sizes.element;
  load.loss = logits * loss_memory(sizes, plan.fused_loss);
  load.output_gradient = plan.fused_loss ? 0 : load.output;
  load.gpus = plan.data;
  return one_process_memory(load);
}

void add_all_states(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage, MemoryUse& use) {
  ParameterShare layers;
  ParameterShare ends;
  for (const std::uint32_t layer : stage.layers) { layers += layer_share(model, plan, layer); }
  if (stage.embedding) { ends.dense += embedding_share(model, plan); }
  if (stage.output) { ends.dense += output_share(model, plan, !stage.embedding); }
  add_states(layers, stage.replicas, plan, true, use);
  add_states(ends, stage.replicas, plan, false, use);
  use.gradients += unreduced(plan, stage, layers) + unreduced(plan, stage, ends);
}

/// A whole transformer.
StageLoad all_of(const Transformer& model) {
  StageLoad all;
  all.embedding = all.output = true;
  for (std::uint32_t layer = 0; layer < model.layers + model.next_token_layers; ++layer) {
    all.layers.push_back(layer);
    all.in_chunk.push_back(layer < model.layers ? layer : 0);
  }
  return all;
}

}  // namespace

MemoryUse memory_of(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  const WorkSizes sizes = sizes_of(plan);
  MemoryUse use;
  add_all_states(model, plan, stage, use);
  if (plan.has_one_process()) { return of_process(model, plan, stage, use).first; }
  for (std::size_t place = 0; place < stage.layers.size(); ++place) {
    if (is_offloaded(model, plan, stage, place)) { continue; }
    use.activations += stage.in_flight * kept_by(model, plan, stage, place);
  }
  if (stage.embedding && plan.dropout) { use.activations += stage.in_flight * sizes.norm_tokens * model.hidden; }
  if (stage.output) { use.activations += (1.0 + model.next_token_layers) * output_activations(model, plan); }
  use.buffers += gathered(model, plan, stage) + remade(model, plan, stage) + moving(model, plan, stage);
  if (plan.sequence_parallel && plan.tensor > 1) { use.buffers += sizes.tokens * model.hidden * sizes.element; }
  return use;
}

namespace {

/// Bytes that plain layer `place` keeps of a micro-batch.
double kept_by(const std::vector<PlainLayer>& layers, const ParallelPlan& plan, std::size_t place) {
  const PlainLayer& layer = layers[place];
  const double elements = recomputed(plan, place) ? layer.output : std::max(layer.activations, layer.output);
  return plan.micro_batch * sizes_of(plan).element * elements;
}

/// Its loss, of which nobody says anything, makes a gradient of what it puts out, at least.
OneProcessMemory of_process(const TrainedModel& model, const ParallelPlan& plan, const MemoryUse& states) {
  OneProcessLoad load;
  for (std::size_t place = 0; place < model.layers.size(); ++place) {
    load.layers.push_back({kept_by(model.layers, plan, place), model.layers[place].parameters * plan.gradient_bytes});
  }
  load.states = states_of_module(states, plan);
  load.inputs = plan.micro_batch * model.input;
  load.output = plan.micro_batch * model.layers.back().output * sizes_of(plan).element;
  load.loss = load.output_gradient = load.output;
  load.gpus = plan.data;
  return one_process_memory(load);
}

MemoryUse states_of_layers(const std::vector<PlainLayer>& layers, const ParallelPlan& plan) {
  MemoryUse use;
  ParameterShare all;
  for (const PlainLayer& layer : layers) { all.dense += layer.parameters; }
  add_states(all, 1, plan, true, use);
  return use;
}

}  // namespace

MemoryUse memory_of_layers(const TrainedModel& model, const ParallelPlan& plan) {
  const std::vector<PlainLayer>& layers = model.layers;
  MemoryUse use = states_of_layers(layers, plan);
  if (plan.has_one_process()) { return of_process(model, plan, use).first; }
  double most = 0;
  for (std::size_t place = 0; place < layers.size(); ++place) {
    most = std::max(most, layers[place].parameters);
    use.activations += kept_by(layers, plan, place);
  }
  if (plan.sharding == Sharding::parameters && shards(plan, dense_replicas(plan)) > 1) {
    const double gradient = static_cast<double>(plan.gradient_bytes) / plan.shard_calls;
    use.buffers += most * (units_at_once(plan, layers.size()) * sizes_of(plan).element + gradient);
  }
  return use;
}

MemoryUse memory_of_others(const TrainedModel& model, const ParallelPlan& plan) {
  if (!model.transformer) { return of_process(model, plan, states_of_layers(model.layers, plan)).others; }
  const StageLoad all = all_of(*model.transformer);
  MemoryUse use;
  add_all_states(*model.transformer, plan, all, use);
  return of_process(*model.transformer, plan, all, use).others;
}

}  // namespace athanor
