#include "models/training/memory.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/adapters.hpp"
#include "models/training/element_wise.hpp"
#include "models/training/model_states.hpp"
#include "models/training/one_process.hpp"
#include "models/training/parameter_share.hpp"
#include "models/training/work_parts.hpp"

namespace athanor {

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

/// What the stage trains, once: of its layers, and of embedding and output.
struct TrainedOfStage {
  ParameterShare layers;
  ParameterShare ends;
};

TrainedOfStage trained_of(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  TrainedOfStage trained;
  for (const std::uint32_t layer : stage.layers) { trained.layers += trained_share(model, plan, layer); }
  if (stage.embedding) { trained.ends += trained_embedding(model, plan); }
  if (stage.output) { trained.ends += trained_output(model, plan, !stage.embedding); }
  return trained;
}

double coded_of(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  if (!plan.compression.is_on()) { return 0; }
  TrainedOfStage trained = trained_of(model, plan, stage);
  trained.layers += trained.ends;
  return coded_at_once(trained.layers, largest_layer(model, plan, stage).trained, plan);
}

double gradient_bytes(const TrainedOfStage& trained, const ParallelPlan& plan, const StageLoad& stage) {
  return stage.replicas * (trained.layers.total() + trained.ends.total()) * plan.gradient_bytes;
}

/// Units that are gathered while they compute, and gradients that wait to be scattered.
double gathered(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage) {
  if (shards(plan, dense_replicas(plan)) == 1) { return 0; }
  const Unit unit = largest_layer(model, plan, stage);
  const StateBytes bytes = state_bytes(plan, true);
  switch (plan.sharding) {
    case Sharding::none:
    case Sharding::optimizer: return 0;
    case Sharding::gradients:
      return std::min(static_cast<double>(plan.bucket.count()),
                      gradient_bytes(trained_of(model, plan, stage), plan, stage));
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

/// The mask of dropout, where gradients go on to the embedding.
double embedding_kept(const Transformer& model, const ParallelPlan& plan) {
  return plan.dropout && !plan.freezes() ? sizes_of(plan).norm_tokens * model.hidden : 0;
}

/// Of the last norm and, if trained, of the output.
double output_inputs(const Transformer& model, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  return (plan.freezes() ? 1 : 2) * sizes.norm_tokens * model.hidden * sizes.element;
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
  const double heads = 1.0 + model.next_token_layers;
  const double shared = model.tied && !plan.freezes() ? word_embedding_share(model, plan) : 0;
  std::vector<LayerMemory> layers{
      {embedding_kept(model, plan), (trained_embedding(model, plan).dense - shared) * plan.gradient_bytes}};
  for (std::size_t place = 0; place < all.layers.size(); ++place) {
    layers.push_back({is_offloaded(model, plan, all, place) ? 0 : kept_by(model, plan, all, place),
                      trained_share(model, plan, all.layers[place]).total() * plan.gradient_bytes});
  }
  layers.push_back(
      {heads * output_inputs(model, plan), (trained_output(model, plan, false).dense + shared) * plan.gradient_bytes});
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
  load.buffers = remade(model, plan, all) + moving(model, plan, all) + dequantized(model, plan, all);
  load.inputs = token_bytes(plan);
  load.targets = plan.data * token_bytes(plan);
  load.output = logits * sizes.element;
  load.loss = logits * loss_memory(sizes, plan.fused_loss);
  load.output_gradient = plan.fused_loss ? 0 : load.output;
  load.gpus = plan.data;
  return one_process_memory(load);
}

void add_all_states(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage, MemoryUse& use) {
  const TrainedOfStage trained = trained_of(model, plan, stage);
  FrozenBytes frozen;
  for (const std::uint32_t layer : stage.layers) { frozen += frozen_bytes(model, plan, layer); }
  if (stage.embedding) { frozen += frozen_ends(embedding_share(model, plan), plan); }
  if (stage.output) { frozen += frozen_ends(output_share(model, plan, !stage.embedding), plan); }
  add_states(trained.layers, stage.replicas, plan, true, use);
  add_states(trained.ends, stage.replicas, plan, false, use);
  add_compression(trained.layers, stage.replicas, plan, true, use);
  add_compression(trained.ends, stage.replicas, plan, false, use);
  add_frozen(frozen, stage.replicas, plan, use);
  use.gradients += unreduced(plan, stage, trained.layers) + unreduced(plan, stage, trained.ends);
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
  if (stage.embedding) { use.activations += stage.in_flight * embedding_kept(model, plan); }
  if (stage.output) { use.activations += (1.0 + model.next_token_layers) * output_activations(model, plan); }
  use.buffers += gathered(model, plan, stage) + remade(model, plan, stage) + moving(model, plan, stage);
  use.buffers += dequantized(model, plan, stage);
  use.compression += coded_of(model, plan, stage);
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
  double most = 0;
  for (const PlainLayer& layer : layers) {
    all += {layer.parameters, 0, matrices_of(layer, plan)};
    most = std::max(most, layer.parameters);
  }
  add_states(all, 1, plan, true, use);
  add_compression(all, 1, plan, true, use);
  use.compression += coded_at_once(all, most, plan);
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
