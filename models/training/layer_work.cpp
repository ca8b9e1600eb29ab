#include "models/training/layer_work.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "models/training/element_wise.hpp"
#include "models/training/work_parts.hpp"

namespace athanor {

double tokens_of(const ParallelPlan& plan) {
  return static_cast<double>(plan.micro_batch) * plan.sequence / plan.context;
}

double token_bytes(const ParallelPlan& plan) { return 8 * tokens_of(plan); }

double outputs_of(const Transformer& model, const ParallelPlan& plan) {
  return tokens_of(plan) * model.vocabulary * (1.0 + model.next_token_layers);
}

namespace {

/// Adds what choosing experts and sorting tokens by them takes.
void add_router(const Transformer& model, const WorkSizes& sizes, PhasedKernels& work) {
  const Experts& experts = *model.experts;
  const double tokens = sizes.norm_tokens;
  add_linear({.label = "router",
              .tokens = tokens,
              .in = static_cast<double>(model.hidden),
              .out = static_cast<double>(experts.experts),
              .biases = model.biases,
              .wide = true},
             sizes, work);
  // Scores in fp32: softmax reads and writes them, choosing reads them; backward reads and writes them twice.
  const double scores = tokens * experts.experts * 4;
  add_memory("choice of experts", 3 * scores, 4 * scores, work);
  const double copies = tokens * (1 + experts.chosen) * model.hidden * sizes.element;
  add_memory("permutation", copies, copies, work);
}

void add_unpermutation(const Transformer& model, const WorkSizes& sizes, PhasedKernels& work) {
  const double tokens = sizes.norm_tokens;
  const double hidden = model.hidden;
  const double copies = tokens * (1 + model.experts->chosen) * hidden * sizes.element;
  add_memory("unpermutation", copies, copies, work);
  if (model.experts->shared_ffn > 0) {
    add_memory("sum with shared expert", 3 * tokens * hidden * sizes.element, 0, work);
  }
}

/// What one GPU has to do for experts: tokens of all ranks that chose those which it holds, of the busiest GPU, for
/// which the others wait in the exchange that follows.
void add_experts(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes, PhasedKernels& work) {
  const Experts& experts = *model.experts;
  const double local = static_cast<double>(experts.experts) / plan.expert;
  const double routed =
      sizes.tokens / plan.tensor * plan.expert_tensor * experts.chosen * plan.busiest_expert_rank() * plan.expert_kept;
  // What comes from several ranks is sorted by the local experts, and back.
  const double sorting = plan.expert > 1 && local > 1 ? 2 * routed * model.hidden * sizes.element : 0;
  add_memory("sorting by expert", sorting, sorting, work);
  add_mlp(model, sizes, static_cast<double>(experts.ffn) / plan.expert_tensor, routed / local, local, false, work);
  add_memory("sorting by expert", sorting, sorting, work);
}

void add_norms(std::uint32_t count, const Transformer& model, const WorkSizes& sizes, PhasedKernels& work) {
  for (; count > 0; --count) { add_norm("norm", sizes.norm_tokens * model.hidden, sizes, work); }
}

/// The norm before attention, or before the MLP.
void add_block_norm(const Transformer& model, const ParallelPlan& plan, PhasedKernels& work) {
  add_norms(1, model, sizes_of(plan), work);
  if (recomputes(plan, RecomputeModule::layernorm)) { work.recompute.push_back(work.forward.back()); }
}

/// Kernels of forward from number `first` on are done again.
void do_again(PhasedKernels& work, std::size_t first) {
  work.recompute.insert(work.recompute.end(), work.forward.begin() + static_cast<std::ptrdiff_t>(first),
                        work.forward.end());
}

void add_activation_again(const ParallelPlan& plan, PhasedKernels& work) {
  if (!recomputes(plan, RecomputeModule::moe_act)) { return; }
  for (const Kernel& kernel : work.forward) {
    if (std::string_view(kernel.label) == kActivation) { work.recompute.push_back(kernel); }
  }
}

/// Router, experts and what is beside them, in the order of forward.
void add_experts_block(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes, LayerWork& work) {
  const bool whole = recomputes(plan, RecomputeModule::moe);
  const std::size_t before = work.before_mlp.forward.size();
  add_router(model, sizes, work.before_mlp);
  add_experts(model, plan, sizes, work.mlp);
  const double shared = static_cast<double>(model.experts->shared_ffn) / plan.tensor;
  if (shared > 0) { add_mlp(model, sizes, shared, sizes.tokens, 1, true, work.shared); }
  add_unpermutation(model, sizes, work.after_mlp);
  if (whole || recomputes(plan, RecomputeModule::shared_experts)) { do_again(work.shared, 0); }
  if (!whole) { return add_activation_again(plan, work.mlp); }
  do_again(work.before_mlp, before);
  do_again(work.mlp, 0);
  do_again(work.after_mlp, 0);
}

/// Backward goes the other way: its lists were filled in the order of forward.
void turn_round(PhasedKernels& work) {
  std::reverse(work.backward_input.begin(), work.backward_input.end());
  std::reverse(work.backward_weight.begin(), work.backward_weight.end());
}

template <class Action>
void for_each_part(LayerWork& work, const Action& action) {
  for (PhasedKernels* part :
       {&work.before_attention, &work.attention, &work.before_mlp, &work.mlp, &work.shared, &work.after_mlp}) {
    action(*part);
  }
}

void finish(const ParallelPlan& plan, LayerWork& work) {
  for_each_part(work, [&](PhasedKernels& part) {
    turn_round(part);
    if (plan.recompute == Recompute::full) { part.recompute = part.forward; }
  });
}

/// In the order of forward.
LayerWork unfinished(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  const WorkSizes sizes = sizes_of(plan);
  const std::uint32_t more_norms = model.norms > 2 ? model.norms - 2 : 0;
  LayerWork work;
  if (model.norms > 0) { add_block_norm(model, plan, work.before_attention); }
  add_attention(model, plan, layer, work.attention);
  add_norms(more_norms / 2, model, sizes, work.before_mlp);
  add_residual(model, plan, work.before_mlp);
  if (model.norms > 1) { add_block_norm(model, plan, work.before_mlp); }
  if (has_experts(model, layer)) {
    add_experts_block(model, plan, sizes, work);
  } else {
    add_mlp(model, sizes, static_cast<double>(model.ffn) / plan.tensor, sizes.tokens, 1, true, work.mlp);
    if (recomputes(plan, RecomputeModule::mlp)) { do_again(work.mlp, 0); }
  }
  add_norms(more_norms - more_norms / 2, model, sizes, work.after_mlp);
  add_residual(model, plan, work.after_mlp);
  return work;
}

}  // namespace

LayerWork layer_work(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  LayerWork work = unfinished(model, plan, layer);
  finish(plan, work);
  return work;
}

LayerWork next_token_work(const Transformer& model, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  LayerWork work = unfinished(model, plan, model.layers);
  PhasedKernels before;
  add_norms(2, model, sizes, before);
  add_linear({.label = "projection of two tokens",
              .tokens = sizes.tokens,
              .in = 2.0 * model.hidden,
              .out = static_cast<double>(model.hidden) / plan.tensor},
             sizes, before);
  if (model.norms > 0) { add_block_norm(model, plan, before); }
  work.before_attention = std::move(before);
  add_norms(1, model, sizes, work.after_mlp);
  finish(plan, work);
  return work;
}

namespace {

/// PyTorch has a gradient of the whole table, of zeros where no token was, and adds it to those of earlier
/// micro-batches.
double dense_gradients(const Transformer& model, const ParallelPlan& plan, const WorkSizes& sizes) {
  const double elements = static_cast<double>(model.vocabulary) * model.hidden / plan.tensor;
  return elements * sizes.gradient * (1 + 3 * sizes.accumulated);
}

}  // namespace

PhasedKernels embedding_work(const Transformer& model, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  const double elements = sizes.tokens * model.hidden;
  PhasedKernels work;
  add_memory("embedding", 2 * elements * sizes.element, 0, work);
  if (model.positions > 0) { add_memory("positions", 3 * elements * sizes.element, 0, work); }
  if (plan.dropout) {
    const double dropped = sizes.norm_tokens * model.hidden;
    work.forward.push_back(memory("dropout", dropped * (2 * sizes.element + 1)));
  }
  if (plan.freezes()) { return work; }
  const double tables = model.positions > 0 ? 2 : 1;
  double gradients = tables * elements * (sizes.element + 2 * sizes.gradient);
  if (sizes.autocast) { gradients += dense_gradients(model, plan, sizes); }
  work.backward_weight.push_back(memory("embedding gradients", gradients));
  if (plan.dropout) {
    const double dropped = sizes.norm_tokens * model.hidden;
    work.backward_weight.insert(work.backward_weight.begin(), memory("dropout", dropped * (2 * sizes.element + 1)));
  }
  return work;
}

PhasedKernels output_norm_work(const Transformer& model, const ParallelPlan& plan) {
  PhasedKernels work;
  add_norms(1, model, sizes_of(plan), work);
  return work;
}

PhasedKernels output_work(const Transformer& model, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  const double vocabulary = static_cast<double>(model.vocabulary) / plan.tensor;
  PhasedKernels work;
  add_linear({.label = "logits",
              .tokens = sizes.tokens,
              .in = static_cast<double>(model.hidden),
              .out = vocabulary,
              .wide = true},
             sizes, work);
  if (!plan.has_one_process()) {
    add_operator("loss", sizes.tokens * vocabulary, loss_cost(sizes, plan.fused_loss), work);
  }
  turn_round(work);
  return work;
}

PhasedKernels loss_of_all_work(const Transformer& model, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  PhasedKernels work;
  add_operator("loss", plan.data * outputs_of(model, plan), loss_cost(sizes, plan.fused_loss), work);
  return work;
}

PhasedKernels plain_layer_work(const PlainLayer& layer, const ParallelPlan& plan) {
  const WorkSizes sizes = sizes_of(plan);
  const double samples = plan.micro_batch;
  const double backward = layer.backward_flops > 0 ? layer.backward_flops : 2 * layer.forward_flops;
  const double bytes = samples * (layer.activations + layer.output) * sizes.element;
  const auto product = [&](double flops) {
    Kernel kernel{.kind = Kernel::Kind::gemm, .label = "layer", .precision = sizes.matrix};
    kernel.flops = samples * flops;
    kernel.bytes = samples * layer.output * sizes.element + layer.parameters * bytes_of(sizes.matrix);
    return kernel;
  };
  PhasedKernels work;
  const auto cast_weights = [&](Kernels& to, double of_each) {
    if (sizes.autocast) { to.push_back(memory("casts of weights", layer.parameters * of_each)); }
  };
  cast_weights(work.forward, sizes.element + 4);
  work.forward.push_back(product(layer.forward_flops));
  add_memory("activation", bytes, 2 * bytes, work);
  work.backward_input.push_back(product(backward / 2));
  work.backward_weight.push_back(product(backward / 2));
  cast_weights(work.backward_weight, sizes.element + 4 + 12 * sizes.accumulated);
  if (plan.recompute == Recompute::full) { work.recompute = work.forward; }
  return work;
}

namespace {

/// Muon's: what momentum gives is written and read in 16 bits, its norm read and divided by; each iteration takes X to
/// a X + (b A + c A A) X with A = X X^T of the shorter side, which three products do; what comes out is read.
void add_orthogonalization(const LayerMatrix& matrix, Precision precision, Kernels& kernels) {
  if (matrix.table) { return; }
  const double a = std::min(matrix.in, matrix.out);
  const double b = std::max(matrix.in, matrix.out);
  constexpr double kTensors = 5;
  kernels.push_back(memory("orthogonalization", kTensors * bytes_of(precision) * matrix.elements()));
  const auto product = [&](double n, double k) {
    kernels.push_back(gemm("orthogonalization", precision, kNewtonSchulzSteps * matrix.count, a, n, k));
  };
  product(a, b);
  product(a, a);
  product(b, a);
}

}  // namespace

/// PyTorch's, where it casts: parameters are their own master copy, and gradients are dropped, not set to zero.
Kernels optimizer_work(double updated, double held, const ParallelPlan& plan,
                       const std::vector<LayerMatrix>& matrices) {
  const WorkSizes sizes = sizes_of(plan);
  // Adam reads a gradient, reads and writes two moments and the master copy, and writes what that is a copy of; it
  // reads that, too, where it is a part of the master copy. Others differ in their states and reads of gradients.
  const bool is_master = sizes.element == 4 || sizes.autocast;
  const double copy = is_master ? 0 : plan.keeps_fp8() ? plan.kept_fp8_bytes() : sizes.element;
  const double master = is_master ? 4 : plan.master_bytes;
  const double read = master < 4 ? copy : 0;
  const double states = 2 * optimizer_state_bytes(updated, matrices, plan);
  const double gradients = costs_of(plan.optimizer).gradient_reads * plan.gradient_bytes;
  Kernels kernels{memory("gradient norm", updated * plan.gradient_bytes),
                  memory("optimizer", updated * (gradients + 2 * master + copy + read) + states)};
  if (costs_of(plan.optimizer).matrices == MatrixRule::orthogonalized) {
    const Precision narrow = sizes.wide == Precision::fp16 ? Precision::fp16 : Precision::bf16;
    for (const LayerMatrix& matrix : matrices) { add_orthogonalization(matrix, narrow, kernels); }
  }
  if (!sizes.autocast) { kernels.push_back(memory("zero gradients", held * plan.gradient_bytes)); }
  if (!sizes.casts) { return kernels; }
  // Wide parameters are cast; of narrow ones what products need beside what was gathered is made of that.
  const double made = plan.keeps_fp8() ? sizes.cast_writes - copy : sizes.cast_writes;
  if (made > 0) { kernels.push_back(memory("cast of parameters", held * (copy + made))); }
  return kernels;
}

}  // namespace athanor
