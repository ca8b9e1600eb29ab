#pragma once

#include "models/training/work_parts.hpp"

namespace athanor {

/// What one element of an operator costs: bytes that go from or to memory, and kernels that do it.
struct ElementCost {
  double forward_bytes = 0;
  double backward_bytes = 0;
  double forward_kernels = 1;
  double backward_kernels = 1;
};

// Fused kernels read what comes in and write what goes out. Eager, PyTorch has a kernel for each of its operators,
// which reads and writes memory: those are counted here, a tensor that is read or written as its bytes.

/// Of norms; autocast computes them in fp32, with a cast before and behind.
ElementCost norm_cost(const WorkSizes& sizes);
/// Of one element of what an MLP multiplies next; `gated`: with half of what comes in.
ElementCost activation_cost(const WorkSizes& sizes, bool gated);
/// Of what is turned of queries and keys.
ElementCost rotary_cost(const WorkSizes& sizes);
/// Of one logit; `fused`: by a kernel for both (flash-attention's xentropy, Liger).
ElementCost loss_cost(const WorkSizes& sizes, bool fused);
/// Bytes that it makes at most at once of one logit, the logit's gradient among them and the logit not: eager,
/// logarithms of probabilities, their gradients and those of logits, all in fp32; else probabilities in fp32 and the
/// gradient; `fused`: nothing, gradients are written over logits.
double loss_memory(const WorkSizes& sizes, bool fused);

/// Adds an operator on so many elements to forward and to the backward of inputs.
void add_operator(const char* label, double elements, const ElementCost& cost, PhasedKernels& work);

}  // namespace athanor
