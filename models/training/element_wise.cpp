#include "models/training/element_wise.hpp"

namespace athanor {

namespace {

constexpr double kWide = 4;  // bytes of fp32

}  // namespace

/// In fp32: a cast, the norm, a cast; backward a cast, gradients of inputs (three tensors), those of the norm's own
/// weights (two, read once more), a cast.
ElementCost norm_cost(const WorkSizes& sizes) {
  const double element = sizes.element;
  if (!sizes.eager) { return {2 * element, 3 * element}; }
  if (!sizes.autocast) { return {2 * element, 5 * element, 1, 2}; }
  const double cast = element + kWide;
  return {2 * cast + 2 * kWide, 2 * cast + 5 * kWide, 3, 4};
}

/// Gated: the function, and a product; backward two products, the function's, and the two halves put together.
ElementCost activation_cost(const WorkSizes& sizes, bool gated) {
  const double element = sizes.element;
  if (!gated) { return {2 * element, 3 * element}; }
  if (!sizes.eager) { return {3 * element, 5 * element}; }
  return {(2 + 3) * element, (2 * 3 + 3 + 4) * element, 2, 4};
}

/// Eager, of queries and of keys: four products of halves (a tensor each read and written, in halves: 4), their sum and
/// difference (3), put together (2); backward four products (4), two sums (3), a sign (1), put together (2).
ElementCost rotary_cost(const WorkSizes& sizes) {
  const double element = sizes.element;
  if (!sizes.eager) { return {2 * element, 2 * element}; }
  constexpr double kTurned = 2;  // queries and keys
  return {9 * element, 10 * element, kTurned * 7, kTurned * 8};
}

/// Not fused: logits to fp32, their maximum, exponentials read and written, their sum; backward takes exponentials to
/// gradients, as megatron/core/tensor_parallel/cross_entropy.py. Fused: read once, and in backward read and
/// overwritten. Eager: a cast, log-softmax, what is chosen of it; backward zeros that take its gradient, log-softmax
/// (three tensors), a cast.
ElementCost loss_cost(const WorkSizes& sizes, bool fused) {
  const double element = sizes.element;
  if (fused) { return {element, 2 * element}; }
  if (!sizes.eager) { return {element + 5 * kWide, kWide + element}; }
  const double cast = element < kWide ? element + kWide : 0;
  const double casts = element < kWide ? 1 : 0;
  return {cast + 2 * kWide, kWide + 3 * kWide + cast, 2 + casts, 3 + casts};
}

double loss_memory(const WorkSizes& sizes, bool fused) {
  if (fused) { return 0; }
  return sizes.eager ? 3 * kWide : kWide + sizes.element;
}

void add_operator(const char* label, double elements, const ElementCost& cost, PhasedKernels& work) {
  const auto add = [&](Kernels& to, double bytes, double kernels) {
    if (elements * bytes == 0) { return; }
    to.push_back(memory(label, elements * bytes));
    to.back().launches = kernels;
  };
  add(work.forward, cost.forward_bytes, cost.forward_kernels);
  add(work.backward_input, cost.backward_bytes, cost.backward_kernels);
}

}  // namespace athanor
