#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/training/layer_matrices.hpp"

namespace athanor {

/// What makes new parameters of gradients.
enum class OptimizerKind : std::uint8_t {
  adam,          ///< or AdamW: two moments
  sgd,           ///< no states
  sgd_momentum,  ///< one moment
  adafactor,     ///< of matrices sums of rows and columns in place of second moments, no first (Shazeer and Stern 2018)
  muon,          ///< of layers' matrices one moment, made orthogonal (Jordan 2024); Adam for all others
  adam_8bit,     ///< bitsandbytes: both moments in 8 bits, with a largest value in fp32 for every 256
};

/// "adam", "sgd", ...: as in scenarios.
std::string_view name(OptimizerKind kind);

/// What an optimizer does with matrices.
enum class MatrixRule : std::uint8_t {
  alike,          ///< each number by itself
  factored,       ///< a state for each row and each column
  orthogonalized  ///< one moment, and Newton-Schulz iterations; of layers alone
};

/// What an optimizer keeps and moves for one parameter, beside the master copy and gradients of the plan.
struct OptimizerCosts {
  double moments = 2;         ///< in ParallelPlan::moment_bytes each
  double fixed_bytes = 0;     ///< of other states
  double gradient_reads = 1;  ///< in an update, beside that of the gradient's norm
  MatrixRule matrices = MatrixRule::alike;
};

const OptimizerCosts& costs_of(OptimizerKind kind);

/// Whether it needs whole matrices: ranks that share it out get some of them each, no slices.
bool needs_matrices(OptimizerKind kind);

struct ParallelPlan;

/// Bytes of states of `parameters` numbers, among which are `matrices`; without the master copy.
double optimizer_state_bytes(double parameters, const std::vector<LayerMatrix>& matrices, const ParallelPlan& plan);

/// Newton-Schulz iterations of Muon.
constexpr int kNewtonSchulzSteps = 5;

/// Additions and multiplications that make one matrix orthogonal, of sides a <= b: 5 (4 a^2 b + 2 a^3).
double orthogonalization_flops(const LayerMatrix& matrix);

}  // namespace athanor
