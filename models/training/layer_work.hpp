#pragma once

#include <cstdint>

#include "models/training/architecture.hpp"
#include "models/training/kernel.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// What one GPU computes of something, for one micro-batch, by phase. Each list in the order of computing.
struct PhasedKernels {
  Kernels forward;
  Kernels backward_input;   ///< gradients of what came in, and all that is element-wise
  Kernels backward_weight;  ///< gradients of matrices and of the embedding; may wait
  Kernels recompute;        ///< before the two, where the plan recomputes
};

/// One layer, cut where ranks may have to communicate. Forward goes down, backward up:
///
///   before_attention  norm
///                     -- tensor ranks: all-gather with sequence parallelism
///   attention         queries, keys and values, attention, output projection; context ranks exchange keys meanwhile
///                     -- tensor ranks: reduce-scatter, or all-reduce
///   before_mlp        residual, norm; of experts also router and permutation
///                     -- tensor ranks as above, or expert ranks: all-to-all (and all-gather over expert tensor ranks)
///   mlp               or the routed experts
///                     -- the same back
///   after_mlp         residual; of experts also putting tokens back
///
/// `shared`: the shared expert, beside the exchange of tokens; between collectives of tensor ranks, as an MLP.
struct LayerWork {
  PhasedKernels before_attention;
  PhasedKernels attention;
  PhasedKernels before_mlp;
  PhasedKernels mlp;
  PhasedKernels shared;
  PhasedKernels after_mlp;
};

/// `recompute` is filled as for a layer that is recomputed: full (all of forward once more) or selective (what the
/// plan's modules do forward, in its order). Which layers are (ParallelPlan::recompute_layers), the caller knows.
/// Experts are as busy as their average. Requires contradictions(model, plan) to be empty.
LayerWork layer_work(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);

/// A layer of a further token: the projection of two vectors and two norms come before its attention, the last norm
/// after its MLP. Embedding and logits are apart.
LayerWork next_token_work(const Transformer& model, const ParallelPlan& plan);

/// Looking tokens up, adding positions. No backward_input.
PhasedKernels embedding_work(const Transformer& model, const ParallelPlan& plan);
/// The last norm, on what its ranks hold of the tokens.
PhasedKernels output_norm_work(const Transformer& model, const ParallelPlan& plan);
/// Logits and loss, each tensor rank its part of the vocabulary. Of one process logits alone.
PhasedKernels output_work(const Transformer& model, const ParallelPlan& plan);
/// Of one process: the loss of all GPUs' logits, which the first GPU computes.
PhasedKernels loss_of_all_work(const Transformer& model, const ParallelPlan& plan);
/// A layer of a model that is a list of them.
PhasedKernels plain_layer_work(const PlainLayer& layer, const ParallelPlan& plan);

/// Adam with gradients clipped by their norm, once per step. `updated`: parameters that this GPU updates (its share,
/// where the optimizer is sharded); `held`: those whose gradients are set to zero and whose matrices are cast here.
Kernels optimizer_work(double updated, double held, const ParallelPlan& plan);

/// Tokens of a micro-batch that one GPU computes: sequences x tokens / context ranks.
double tokens_of(const ParallelPlan& plan);
/// Bytes of their ids, of 64 bits each as PyTorch has them.
double token_bytes(const ParallelPlan& plan);
/// Logits of a micro-batch that all tensor ranks make together, those of tokens after the next among them.
double outputs_of(const Transformer& model, const ParallelPlan& plan);

/// What publications count for one sequence, forward and backward (three times forward), whatever is recomputed or
/// left out: Megatron-LM's 72 B s l h^2 (1 + s / 6h + V / 12 l h) for GPT. Attention counts every pair of tokens within
/// the window, causal or not; routers, norms and lookups count nothing; experts only where chosen.
double model_flops(const Transformer& model, std::uint32_t sequence);
double model_flops(const TrainedModel& model, std::uint32_t sequence);

}  // namespace athanor
