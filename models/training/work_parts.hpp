#pragma once

#include "models/training/layer_work.hpp"

namespace athanor {

/// What all kernels of a plan share.
struct WorkSizes {
  double tokens = 0;                 ///< of a micro-batch on one GPU
  double norm_tokens = 0;            ///< tokens that norms, residuals and routers see: with sequence parallelism a part
  double element = 2;                ///< bytes of an activation
  double gradient = 4;               ///< bytes of a gradient that matrices' products are added to
  Precision wide = Precision::bf16;  ///< of attention, logits and routers
  Precision matrix = Precision::bf16;  ///< of linear layers
  bool casts = false;                  ///< `matrix` is narrower than what comes in
  double cast_reads = 0;               ///< bytes of what comes in, that a cast reads
  double narrow = 0;                   ///< bytes of one cast, with its scales
  bool blocks = false;                 ///< a cast for one direction does not do for the other
  double cast_writes = 0;              ///< bytes of all casts that products of both phases need
  bool eager = false;                  ///< operators of PyTorch, each from memory to memory
  bool autocast = false;               ///< weights are cast for each micro-batch, and their gradients
  double accumulated = 0;              ///< share of micro-batches whose gradients are added to earlier ones
  Lora lora;                           ///< of rank 0: all weights have gradients, else those of adapters alone
  double dequantized = 0;              ///< bytes read and written to have a number of a matrix as it is multiplied
};
WorkSizes sizes_of(const ParallelPlan& plan);

/// A linear layer, or `count` of them beside each other, as one rank computes it.
struct LinearWork {
  const char* label = "";
  double tokens = 0;  ///< of each
  double in = 0;
  double out = 0;
  double count = 1;
  bool biases = false;
  bool wide = false;         ///< never in fp8 or fp4
  bool gathers_in = false;   ///< what comes in, forward, is collected from tensor ranks that share its tokens
  bool gathers_out = false;  ///< the gradient of what goes out, backward
};
void add_linear(const LinearWork& linear, const WorkSizes& sizes, PhasedKernels& work);

/// An adapter beside a frozen linear layer of these sizes, where the plan has one there: what comes in times a matrix
/// to `rank` elements, times one to what goes out, added to that.
void add_adapter(LoraTarget target, const LinearWork& linear, const WorkSizes& sizes, PhasedKernels& work);

/// Something element-wise, forward and backward of inputs.
void add_memory(const char* label, double forward_bytes, double backward_bytes, PhasedKernels& work);

Kernel gemm(const char* label, Precision precision, double count, double m, double n, double k);
Kernel memory(const char* label, double bytes);

void add_norm(const char* label, double elements, const WorkSizes& sizes, PhasedKernels& work);
/// The label of an MLP's activation function.
constexpr const char* kActivation = "activation";

/// The sum with what went past a block, its bias and dropout.
void add_residual(const Transformer& model, const ParallelPlan& plan, PhasedKernels& work);

/// From norms to the output projection, all but these two: projections and attention.
void add_attention(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer, PhasedKernels& work);

/// An MLP whose parts hold `ffn` elements each, `count` of them (experts) with `tokens` each; `gathers`: from tensor
/// ranks.
void add_mlp(const Transformer& model, const WorkSizes& sizes, double ffn, double tokens, double count, bool gathers,
             PhasedKernels& work);

}  // namespace athanor
