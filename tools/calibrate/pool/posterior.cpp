#include "tools/calibrate/pool/posterior.hpp"

#include <algorithm>
#include <cmath>

#include "sim/check.hpp"
#include "tools/calibrate/pool/symmetric_matrix.hpp"

namespace athanor {

namespace {

constexpr double kLongestStep = 1;  // of an unknown, which are logarithms: beyond, slopes say nothing

constexpr double kRowWeight = 1 / (kRowSpread * kRowSpread);
constexpr double kAnchorWeight = 1 / (kAnchorSpread * kAnchorSpread);

/// 1 near nothing, and growing with the distance from there.
double wildness(double residual) { return std::hypot(1, residual / kWildFrom); }

bool is_anchor(const RowModel& model, std::size_t row) { return !model.anchors.empty() && model.anchors[row]; }

double row_loss(const RowModel& model, std::size_t row, double residual) {
  if (is_anchor(model, row)) { return model.weights[row] * residual * residual * kAnchorWeight / 2; }
  return model.weights[row] * (wildness(residual) - 1) * kWildFrom * kWildFrom * kRowWeight;
}

/// The curvature that each row has by its distance: 1 / spread^2 near nothing.
std::vector<double> row_curvatures(const RowModel& model, const std::vector<double>& residuals) {
  std::vector<double> result;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    result.push_back(model.weights[i] * (is_anchor(model, i) ? kAnchorWeight : kRowWeight / wildness(residuals[i])));
  }
  return result;
}

double loss_of(const RowModel& model, const std::vector<double>& residuals, const Spreads& prior,
               const std::vector<double>& unknowns) {
  double loss = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) { loss += row_loss(model, i, residuals[i]); }
  for (std::size_t i = 0; i < unknowns.size(); ++i) { loss += std::pow(unknowns[i] / prior[i], 2) / 2; }
  return loss;
}

/// Of the rows of some slopes the sum of curvature x slope of the one x `other`.
template <class Other>
double weighted(const Slopes& slopes, const Slopes::Column& column, const std::vector<double>& curvatures,
                const Other& other) {
  double sum = 0;
  for (std::size_t row = 0; row < column.of_rows.size(); ++row) {
    sum += curvatures[slopes.first_row + row] * column.of_rows[row] * other(row);
  }
  return sum;
}

void add(const Slopes& slopes, const std::vector<double>& curvatures, SymmetricMatrix& matrix) {
  for (const Slopes::Column& first : slopes.columns) {
    for (const Slopes::Column& second : slopes.columns) {
      const double product = weighted(slopes, first, curvatures, [&](std::size_t row) { return second.of_rows[row]; });
      for (const std::size_t i : first.unknowns) {
        for (const std::size_t j : second.unknowns) {
          if (i >= j) { matrix.add(i, j, product); }  // the other half is the same
        }
      }
    }
  }
}

SymmetricMatrix curvature_of(const std::vector<Slopes>& slopes, const std::vector<double>& curvatures,
                             const Spreads& prior) {
  SymmetricMatrix matrix(prior.size());
  for (std::size_t i = 0; i < prior.size(); ++i) { matrix.add(i, i, 1 / (prior[i] * prior[i])); }
  for (const Slopes& each : slopes) { add(each, curvatures, matrix); }
  return matrix;
}

/// Downhill.
std::vector<double> gradient(const Posterior& at, const std::vector<double>& curvatures, const Spreads& prior) {
  std::vector<double> result(prior.size());
  for (std::size_t i = 0; i < prior.size(); ++i) { result[i] = -at.mode[i] / (prior[i] * prior[i]); }
  for (const Slopes& slopes : at.slopes) {
    for (const Slopes::Column& column : slopes.columns) {
      const double sum =
          weighted(slopes, column, curvatures, [&](std::size_t row) { return at.residuals[slopes.first_row + row]; });
      for (const std::size_t i : column.unknowns) { result[i] -= sum; }
    }
  }
  return result;
}

/// Moves to where the loss is less, with as little damping as does; false where nothing near is better.
bool step(const RowModel& model, const Spreads& prior, double& damping, Posterior& at) {
  constexpr int kTries = 6;
  const std::vector<double> curvatures = row_curvatures(model, at.residuals);
  const SymmetricMatrix matrix = curvature_of(at.slopes, curvatures, prior);
  const std::vector<double> down = gradient(at, curvatures, prior);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::vector<double> next = matrix.solved(down, 1 + damping);
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = at.mode[i] + std::clamp(next[i], -kLongestStep, kLongestStep);
    }
    std::vector<double> residuals = model.residuals(next);
    const double loss = loss_of(model, residuals, prior, next);
    if (loss < at.loss) {
      at = {std::move(next), std::move(residuals), std::move(at.slopes), loss};
      damping = std::max(damping / 4, 1e-4);
      return true;
    }
    damping = std::max(damping * 8, 1e-2);
  }
  return false;
}

}  // namespace

Posterior posterior(const RowModel& model, const Spreads& prior, std::vector<double> start,
                    const PosteriorSettings& settings) {
  Posterior at{std::move(start), {}, {}, 0};
  at.residuals = model.residuals(at.mode);
  require(at.residuals.size() == model.weights.size(), "every row has a weight");
  at.loss = loss_of(model, at.residuals, prior, at.mode);
  double damping = 1e-3;
  for (int i = 0; i < settings.iterations; ++i) {
    at.slopes = model.slopes(at.mode, at.residuals);
    const double before = at.loss;
    if (!step(model, prior, damping, at) || before - at.loss < settings.tolerance * before) { break; }
  }
  return at;
}

std::vector<double> variances(const Posterior& at, const RowModel& model, const Spreads& prior) {
  return curvature_of(at.slopes, row_curvatures(model, at.residuals), prior).diagonal_of_inverse();
}

std::vector<double> variances(const Posterior& at, const RowModel& model, const Spreads& prior,
                              const std::vector<std::vector<std::size_t>>& sums) {
  return curvature_of(at.slopes, row_curvatures(model, at.residuals), prior).sums_of_inverse(sums);
}

}  // namespace athanor
