#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace athanor {

/// What is known of unknowns before any row is looked at: independent normal distributions around zero.
using Spreads = std::vector<double>;  ///< their standard deviations, each positive

/// How some rows change with what they depend on, to first order.
struct Slopes {
  std::size_t first_row = 0;
  /// Of one quantity: the unknowns whose sum it is, and what each of the rows changes by for each unit of it.
  struct Column {
    std::vector<std::size_t> unknowns;
    std::vector<double> of_rows;
  };
  std::vector<Column> columns;
};

/// Measured rows and the model that explains them.
struct RowModel {
  /// log(simulated / measured) of every row at these unknowns.
  std::function<std::vector<double>(const std::vector<double>& unknowns)> residuals;
  /// Of all rows, at these unknowns, whose residuals are given.
  std::function<std::vector<Slopes>(const std::vector<double>& unknowns, const std::vector<double>& residuals)> slopes;
  /// What each row counts: 1, or 0 for one that is held out.
  std::vector<double> weights;
  /// Rows that are never wild, since a user tells them of their machine; empty: none.
  std::vector<bool> anchors{};
};

/// The mode of what rows and prior say together, and how well it is told.
struct Posterior {
  std::vector<double> mode;
  std::vector<double> residuals;  ///< of all rows there, those held out too
  std::vector<Slopes> slopes;     ///< there
  double loss = 0;
};

struct PosteriorSettings {
  int iterations = 8;       ///< at most; each takes slopes, and residuals until one step is better
  double tolerance = 1e-3;  ///< ends where an iteration gains less than this share of the loss
};

/// Gauss-Newton steps with Levenberg and Marquardt's damping, beginning at `start`. A row costs
/// (sqrt(1 + (r / w)^2) - 1) (w / s)^2 with w = kWildFrom and s = kRowSpread: squares near nothing, the distance beyond
/// w, so that wild rows hardly count; anchors cost squares however far they are, with kAnchorSpread. An unknown u costs
/// u^2 / 2 spread^2. Requires as many weights as residuals.
Posterior posterior(const RowModel& model, const Spreads& prior, std::vector<double> start,
                    const PosteriorSettings& settings);

/// The standard deviation of a row that the model explains as well as any, and from where on a row is off more than
/// that explains; as shares of its time.
constexpr double kRowSpread = 0.05;
constexpr double kWildFrom = 0.1;
/// Of a row that is told of one machine: it is to be met, as far as benchmarks repeat.
constexpr double kAnchorSpread = 0.02;

/// Variances of the unknowns by Laplace's approximation: the diagonal of the inverse of the loss's curvature.
std::vector<double> variances(const Posterior& at, const RowModel& model, const Spreads& prior);
/// The same of sums of unknowns, each named at most once in a sum.
std::vector<double> variances(const Posterior& at, const RowModel& model, const Spreads& prior,
                              const std::vector<std::vector<std::size_t>>& sums);

}  // namespace athanor
