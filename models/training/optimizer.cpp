#include "models/training/optimizer.hpp"

#include <algorithm>

#include "models/training/parallel_plan.hpp"

namespace athanor {

std::string_view name(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adam: return "adam";
    case OptimizerKind::sgd: return "sgd";
    case OptimizerKind::sgd_momentum: return "sgd_momentum";
    case OptimizerKind::adafactor: return "adafactor";
    case OptimizerKind::muon: return "muon";
    case OptimizerKind::adam_8bit: return "adam_8bit";
  }
  return "";
}

namespace {

constexpr double kWide = 4;  // bytes of fp32

}  // namespace

/// adafactor: algorithms 4 and 6 of the paper read a gradient for sums of rows and columns, for the size of the whole
/// update that clips it, and for the update; states are in fp32. adam_8bit: bitsandbytes/optim/optimizer.py, blocks of
/// 256 numbers (2,048 before 0.45).
const OptimizerCosts& costs_of(OptimizerKind kind) {
  static const OptimizerCosts adam;
  static const OptimizerCosts sgd{.moments = 0};
  static const OptimizerCosts sgd_momentum{.moments = 1};
  static const OptimizerCosts adafactor{
      .moments = 0, .fixed_bytes = kWide, .gradient_reads = 3, .matrices = MatrixRule::factored};
  static const OptimizerCosts muon{.matrices = MatrixRule::orthogonalized};
  static const OptimizerCosts adam_8bit{.moments = 0, .fixed_bytes = 2 * (1 + kWide / 256)};
  switch (kind) {
    case OptimizerKind::adam: return adam;
    case OptimizerKind::sgd: return sgd;
    case OptimizerKind::sgd_momentum: return sgd_momentum;
    case OptimizerKind::adafactor: return adafactor;
    case OptimizerKind::muon: return muon;
    case OptimizerKind::adam_8bit: return adam_8bit;
  }
  return adam;
}

bool needs_matrices(OptimizerKind kind) { return costs_of(kind).matrices != MatrixRule::alike; }

double optimizer_state_bytes(double parameters, const std::vector<LayerMatrix>& matrices, const ParallelPlan& plan) {
  const OptimizerCosts& costs = costs_of(plan.optimizer);
  double sum = parameters * (costs.moments * plan.moment_bytes + costs.fixed_bytes);
  for (const LayerMatrix& matrix : matrices) {
    switch (costs.matrices) {
      case MatrixRule::alike: break;
      case MatrixRule::factored:
        sum += costs.fixed_bytes * (matrix.count * (matrix.in + matrix.out) - matrix.elements());
        break;
      case MatrixRule::orthogonalized: sum -= matrix.table ? 0 : plan.moment_bytes * matrix.elements(); break;
    }
  }
  return sum;
}

double orthogonalization_flops(const LayerMatrix& matrix) {
  const double a = std::min(matrix.in, matrix.out);
  const double b = std::max(matrix.in, matrix.out);
  return kNewtonSchulzSteps * (4 * a * a * b + 2 * a * a * a);
}

}  // namespace athanor
