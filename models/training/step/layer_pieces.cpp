#include "models/training/step/layer_pieces.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/experts/exchange.hpp"
#include "models/training/expert_ranks.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

Bytes whole_bytes(double bytes) { return Bytes{static_cast<std::int64_t>(std::ceil(bytes))}; }

WorkPiece collective(std::string label, Parallelism use, CollectiveKind kind, Bytes size, bool beside) {
  WorkPiece piece;
  piece.computes = false;
  piece.label = std::move(label);
  piece.use = use;
  piece.kind = kind;
  piece.size = size;
  piece.beside = beside;
  return piece;
}

/// What was computed last leaves gradients of so many parameters.
void set_gradients(Pieces& pieces, double parameters) {
  const auto last = std::find_if(pieces.rbegin(), pieces.rend(), [](const WorkPiece& piece) { return piece.computes; });
  if (last != pieces.rend()) { last->gradients = parameters; }
}

constexpr double kActivation = 2;  // bytes: what ranks send each other is bf16 or fp16

}  // namespace

LayerAssembly::LayerAssembly(const Transformer& model, const ParallelPlan& plan, const GpuRates& gpu,
                             const ComputeProfile& profile)
    : model_(model), plan_(plan), gpu_(gpu), profile_(profile) {
  if (!model.experts || plan.expert == 1 || plan.experts.kind == ExchangeKind::pairwise) { return; }
  const ExpertLayer layer = expert_layer(model, plan);
  const TokenRouting routing = routing_of(plan.experts, layer);
  dispatch_ = std::make_shared<const TokenExchange>(exchange_of(plan.experts, layer, routing, false));
  combine_ = std::make_shared<const TokenExchange>(exchange_of(plan.experts, layer, routing, true));
}

LayerAssembly LayerAssembly::with(const GpuRates& gpu) const { return {*this, gpu}; }

GpuRates LayerAssembly::beside_exchange() const {
  GpuRates rest = gpu_;
  const double taken = dispatch_ ? dispatch_->costs.multiprocessors : 0;
  if (taken == 0 || rest.multiprocessors == 0) { return rest; }
  if (taken >= rest.multiprocessors) {
    throw SimulationError(
        "too-many-multiprocessors",
        fmt::format("kernels of the exchange take {} multiprocessors, and the GPU has {}: nothing could "
                    "be computed beside them; make \"multiprocessors\" of \"experts\" smaller",
                    taken, rest.multiprocessors));
  }
  const double share = 1 - taken / rest.multiprocessors;
  for (auto& [precision, flops] : rest.flops) { flops *= share; }
  rest.multiprocessors -= taken;
  return rest;
}

Bytes LayerAssembly::activations() const { return whole_bytes(tokens_of(plan_) * model_.hidden * kActivation); }

WorkPiece LayerAssembly::compute(const std::string& label, const Kernels& kernels) const {
  WorkPiece piece;
  piece.label = label;
  piece.time = time_of(kernels, gpu_, profile_);
  if (plan_.execution != ExecutionMode::cuda_graphs) { piece.launch = launch_time(kernels, profile_); }
  return piece;
}

void LayerAssembly::add_compute(Pieces& pieces, const std::string& label, const Kernels& kernels) const {
  if (!kernels.empty()) { pieces.push_back(compute(label, kernels)); }
}

/// Tensor ranks collect the tokens that each has a part of, in the precision of the products that need them. Beside
/// these: in pieces.
void LayerAssembly::add_enter(Pieces& pieces, bool beside, bool wide) const {
  if (plan_.tensor == 1 || !plan_.sequence_parallel) { return; }
  const double element = wide ? kActivation : std::min(kActivation, plan_.narrow_bytes());
  pieces.push_back(collective("all-gather", Parallelism::tensor, CollectiveKind::all_gather,
                              whole_bytes(tokens_of(plan_) * model_.hidden * element), beside));
}

/// They add up what each has computed of all tokens. `overlapped`: beside what is computed next; what is made by it can
/// leave in pieces, the last of which nothing hides.
void LayerAssembly::add_leave(Pieces& pieces, bool overlapped) const {
  if (plan_.tensor == 1) { return; }
  const bool parts = plan_.sequence_parallel;
  pieces.push_back(collective(parts ? "reduce-scatter" : "all-reduce", Parallelism::tensor,
                              parts ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, activations(),
                              overlapped));
}

/// Keys and values of all tokens, or the sums of their gradients, beside attention.
void LayerAssembly::add_context(Pieces& pieces, CollectiveKind kind) const {
  if (plan_.context == 1) { return; }
  const Attention& attention = model_.attention;
  const bool latent = attention.kind == Attention::Kind::latent;
  const double grouped = static_cast<double>(std::max(1U, attention.kv_heads / plan_.tensor)) *
                         (attention.head_size + attention.value_size);
  const double shared = static_cast<double>(attention.heads) / plan_.tensor *
                        (attention.head_size + attention.rotary_size + attention.value_size);
  const double elements = tokens_of(plan_) * plan_.context * (latent ? shared : grouped);
  pieces.push_back(collective(kind == CollectiveKind::all_gather ? "exchange of keys" : "sums of keys' gradients",
                              Parallelism::context, kind, whole_bytes(elements * kActivation), true));
}

/// Tokens go to the ranks that have their experts, or back. Ranks that share an expert see the tokens of all of them.
void LayerAssembly::add_exchange(Pieces& pieces, bool combines, bool beside) const {
  if (plan_.expert == 1) { return; }
  const double tokens = tokens_of(plan_) / plan_.tensor * model_.experts->chosen * plan_.expert_kept;
  const double bytes = tokens * token_bytes(plan_.experts, model_.hidden, combines);
  const char* const label = !dispatch_ ? "all-to-all" : combines ? "combine" : "dispatch";
  WorkPiece exchange = collective(label, Parallelism::expert, CollectiveKind::all_to_all, whole_bytes(bytes), beside);
  exchange.exchange = combines ? combine_ : dispatch_;
  if (!dispatch_) { exchange.imbalance = plan_.busiest_expert_rank(); }
  pieces.push_back(std::move(exchange));
}

/// Attention or MLP between the communications of its tensor ranks.
void LayerAssembly::add_block_forward(Pieces& pieces, const std::string& label, const Kernels& kernels) const {
  if (!plan_.overlap_tensor || plan_.tensor == 1) {
    add_enter(pieces, false);
    add_compute(pieces, label, kernels);
    add_leave(pieces, false);
    return;
  }
  add_enter(pieces, true);
  Pieces leave;
  add_leave(leave, true);
  WorkPiece hidden = leave.front();
  WorkPiece last = hidden;
  last.beside = false;
  last.size = hidden.size / plan_.tensor;
  hidden.size = hidden.size - last.size;
  pieces.push_back(hidden);
  add_compute(pieces, label, kernels);
  pieces.push_back(last);
}

/// The same backward: what left is collected, what was collected is added up. Gradients of weights need what was
/// collected forward once more, which was not kept, and hide the addition.
void LayerAssembly::add_block_backward(Pieces& pieces, const std::string& label, const PhasedKernels& work,
                                       bool weights, bool attention) const {
  add_enter(pieces, plan_.overlap_tensor);
  if (!plan_.freezes() || !work.backward_weight.empty()) { add_enter(pieces, true); }
  // Gradients of weights sum over tokens: what was cast in blocks along the other side for the gradients of inputs does
  // not do for them, and its cast along tokens is gathered, too (Transformer Engine, pytorch/module/linear.py).
  if (weights && plan_.precision == Precision::fp8 && has_blocks(plan_.fp8_recipe)) { add_enter(pieces, true); }
  if (attention) {
    add_context(pieces, CollectiveKind::all_gather);
    add_context(pieces, CollectiveKind::reduce_scatter);
  }
  add_compute(pieces, label, work.backward_input);
  add_leave(pieces, weights && !work.backward_weight.empty());
  if (weights) { add_compute(pieces, label, work.backward_weight); }
}

void LayerAssembly::add_forward(Pieces& pieces, const LayerWork& work, bool experts,
                                Kernels PhasedKernels::*phase) const {
  add_compute(pieces, "norms forward", work.before_attention.*phase);
  add_context(pieces, CollectiveKind::all_gather);
  add_block_forward(pieces, "attention forward", work.attention.*phase);
  if (experts) { return add_experts_forward(pieces, work, phase); }
  add_compute(pieces, "norms forward", work.before_mlp.*phase);
  add_block_forward(pieces, "MLP forward", work.mlp.*phase);
  add_compute(pieces, "norms forward", work.after_mlp.*phase);
}

void LayerAssembly::add_experts_forward(Pieces& pieces, const LayerWork& work, Kernels PhasedKernels::*phase) const {
  add_compute(pieces, "norms forward", work.before_mlp.*phase);
  const Kernels& shared = work.shared.*phase;
  add_exchange(pieces, false, !shared.empty());
  if (!shared.empty()) {
    const GpuRates rest = overlaps_exchanges(plan_) ? gpu_ : beside_exchange();
    with(rest).add_block_forward(pieces, "shared expert forward", shared);
  }
  add_compute(pieces, "experts forward", work.mlp.*phase);
  add_exchange(pieces, true, false);
  add_compute(pieces, "norms forward", work.after_mlp.*phase);
}

void LayerAssembly::add_backward(Pieces& pieces, const LayerWork& work, bool experts, bool weights,
                                 double mlp_parameters) const {
  const auto element_wise = [&](const PhasedKernels& part) {
    add_compute(pieces, "norms backward", part.backward_input);
    if (weights) { add_compute(pieces, "norms backward", part.backward_weight); }
  };
  element_wise(work.after_mlp);
  if (!experts) {
    add_block_backward(pieces, "MLP backward", work.mlp, weights, false);
    set_gradients(pieces, mlp_parameters);
  } else {
    const bool shared = !work.shared.backward_input.empty();
    // Gradients of results go to the experts as tokens do, those of tokens come back as results do.
    add_exchange(pieces, false, shared);
    if (shared) {
      const GpuRates rest = overlaps_exchanges(plan_) ? gpu_ : beside_exchange();
      with(rest).add_block_backward(pieces, "shared expert backward", work.shared, weights, false);
      set_gradients(pieces, mlp_parameters);
    }
    add_compute(pieces, "experts backward", work.mlp.backward_input);
    add_exchange(pieces, true, weights);
    if (weights) { add_compute(pieces, "experts backward", work.mlp.backward_weight); }
  }
  element_wise(work.before_mlp);
  add_block_backward(pieces, "attention backward", work.attention, weights, true);
  element_wise(work.before_attention);
}

void LayerAssembly::add_weights(Pieces& pieces, const LayerWork& work, bool experts, double mlp_parameters) const {
  const PhasedKernels* const mlp = experts ? &work.shared : &work.mlp;
  for (const PhasedKernels* part :
       {&work.after_mlp, &work.mlp, &work.shared, &work.before_mlp, &work.attention, &work.before_attention}) {
    add_compute(pieces, "gradients of weights", part->backward_weight);
    if (part == mlp && !part->backward_weight.empty()) { set_gradients(pieces, mlp_parameters); }
  }
}

/// Modules that are done again, with the communication inside of them: an MLP with that of its tensor ranks, experts
/// with the exchange of tokens where the router is done again, too.
void LayerAssembly::add_modules_again(Pieces& pieces, const LayerWork& work, bool experts) const {
  add_compute(pieces, "recomputed norms", work.before_attention.recompute);
  add_compute(pieces, "recomputed attention", work.attention.recompute);
  if (experts && recomputes(plan_, RecomputeModule::moe)) {
    return add_experts_forward(pieces, work, &PhasedKernels::recompute);
  }
  add_compute(pieces, "recomputed norms", work.before_mlp.recompute);
  if (experts) {
    if (!work.shared.recompute.empty()) {
      add_block_forward(pieces, "recomputed shared expert", work.shared.recompute);
    }
    add_compute(pieces, "recomputed experts", work.mlp.recompute);
  } else if (!work.mlp.recompute.empty()) {
    add_block_forward(pieces, "recomputed MLP", work.mlp.recompute);
  }
}

/// Where exchanges run beside the computing of another micro-batch, their kernels are there nearly all the time.
LayerPieces LayerAssembly::layer(const LayerWork& work, bool experts, bool recompute, double mlp_parameters) const {
  if (!experts || !overlaps_exchanges(plan_)) { return own_layer(work, experts, recompute, mlp_parameters); }
  const GpuRates rest = beside_exchange();
  return with(rest).own_layer(work, experts, recompute, mlp_parameters);
}

LayerPieces LayerAssembly::own_layer(const LayerWork& work, bool experts, bool recompute, double mlp_parameters) const {
  LayerPieces pieces;
  add_forward(pieces.forward, work, experts, &PhasedKernels::forward);
  if (recompute && plan_.recompute == Recompute::full) {
    add_forward(pieces.recompute, work, experts, &PhasedKernels::recompute);
  } else if (recompute) {
    add_modules_again(pieces.recompute, work, experts);
  }
  add_backward(pieces.backward, work, experts, true, mlp_parameters);
  add_backward(pieces.backward_input, work, experts, false, 0);
  add_weights(pieces.backward_weight, work, experts, mlp_parameters);
  return pieces;
}

/// Each tensor rank knows its part of the vocabulary only.
LayerPieces LayerAssembly::embedding() const {
  const PhasedKernels work = embedding_work(model_, plan_);
  LayerPieces pieces;
  add_compute(pieces.forward, "embedding forward", work.forward);
  add_leave(pieces.forward, false);
  if (plan_.freezes()) { return pieces; }
  add_enter(pieces.backward, false, true);
  add_compute(pieces.backward, "embedding backward", work.backward_input);
  add_compute(pieces.backward, "embedding backward", work.backward_weight);
  add_compute(pieces.backward_input, "embedding backward", work.backward_input);
  add_compute(pieces.backward_weight, "gradients of weights", work.backward_weight);
  return pieces;
}

/// Of the loss, tensor ranks exchange the largest logit of each token, that of its target, and the sum of exponentials.
LayerPieces LayerAssembly::output() const {
  const PhasedKernels norm = output_norm_work(model_, plan_);
  const PhasedKernels work = output_work(model_, plan_);
  LayerPieces pieces;
  add_compute(pieces.forward, "norms forward", norm.forward);
  add_enter(pieces.forward, false, true);
  add_compute(pieces.forward, "logits forward", work.forward);
  if (plan_.tensor > 1) {
    const Bytes scores = whole_bytes(tokens_of(plan_) * 4);
    for (int exchange = 0; exchange < 3; ++exchange) {
      pieces.forward.push_back(
          collective("exchange of the loss", Parallelism::tensor, CollectiveKind::all_reduce, scores, false));
    }
  }
  for (const bool weights : {true, false}) {
    Pieces& backward = weights ? pieces.backward : pieces.backward_input;
    if (plan_.sequence_parallel && !plan_.freezes()) { add_enter(backward, true, true); }
    add_compute(backward, "logits backward", work.backward_input);
    add_leave(backward, weights);
    if (weights) { add_compute(backward, "logits backward", work.backward_weight); }
    add_compute(backward, "norms backward", norm.backward_input);
    if (weights) { add_compute(backward, "norms backward", norm.backward_weight); }
  }
  add_compute(pieces.backward_weight, "gradients of weights", work.backward_weight);
  add_compute(pieces.backward_weight, "gradients of weights", norm.backward_weight);
  return pieces;
}

LayerPieces LayerAssembly::loss_of_all() const {
  const PhasedKernels work = loss_of_all_work(model_, plan_);
  LayerPieces pieces;
  add_compute(pieces.forward, "loss of all forward", work.forward);
  add_compute(pieces.backward, "loss of all backward", work.backward_input);
  add_compute(pieces.backward_input, "loss of all backward", work.backward_input);
  return pieces;
}

}  // namespace athanor
