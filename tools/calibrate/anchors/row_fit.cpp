#include "tools/calibrate/anchors/row_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/check.hpp"
#include "tools/calibrate/pool/symmetric_matrix.hpp"

namespace athanor {

namespace {

constexpr double kGivenSpread = 0.02;  // of a row that a user vouches for

/// By row and unknown.
using Jacobian = std::vector<std::vector<double>>;

/// Requires one case, each of whose figures has one unknown.
Jacobian jacobian(PooledModel& model, const std::vector<double>& unknowns, const std::vector<double>& residuals) {
  Jacobian result(residuals.size(), std::vector<double>(unknowns.size()));
  const std::vector<Slopes> slopes = model.slopes(unknowns, residuals, model.every_case());
  for (const Slopes::Column& column : slopes.front().columns) {
    for (std::size_t row = 0; row < result.size(); ++row) {
      result[row][column.unknowns.front()] = column.of_rows[row];
    }
  }
  return result;
}

SymmetricMatrix precision(const Jacobian& rows, double row_spread, const Spreads& prior) {
  SymmetricMatrix matrix(prior.size());
  for (std::size_t i = 0; i < prior.size(); ++i) {
    matrix.add(i, i, 1 / (prior[i] * prior[i]));
    for (const std::vector<double>& row : rows) {
      for (std::size_t j = 0; j <= i; ++j) { matrix.add(i, j, row[i] * row[j] / (row_spread * row_spread)); }
    }
  }
  return matrix;
}

double spread_of(const std::vector<double>& slopes, const SymmetricMatrix& precision) {
  const std::vector<double> solved = precision.solved(slopes);
  return std::sqrt(std::inner_product(slopes.begin(), slopes.end(), solved.begin(), 0.0));
}

/// Residuals are made so small that none is wild to posterior(), which then has nothing but squares, and their weights
/// so large that each counts by `row_spread`.
Posterior fit(PooledModel& model, const Spreads& prior, double row_spread, std::vector<double> start) {
  constexpr double kSmall = 1e-4;
  const std::size_t count = model.tables().rows.size();
  const auto small = [](std::vector<double> values) {
    for (double& value : values) { value *= kSmall; }
    return values;
  };
  const RowModel rows{[&](const std::vector<double>& unknowns) { return small(model.residuals(unknowns)); },
                      [&](const std::vector<double>& unknowns, std::vector<double> residuals) {
                        for (double& value : residuals) { value /= kSmall; }
                        std::vector<Slopes> slopes = model.slopes(unknowns, residuals, model.every_case());
                        for (Slopes::Column& column : slopes.front().columns) {
                          column.of_rows = small(std::move(column.of_rows));
                        }
                        return slopes;
                      },
                      std::vector<double>(count, std::pow(kRowSpread / row_spread / kSmall, 2))};
  return posterior(rows, prior, std::move(start), {.iterations = 20, .tolerance = 1e-5});
}

/// What can go back to what was expected without any row being explained worse for it goes back: steps over a bound, or
/// over a switch from one algorithm to another, leave such traces.
std::vector<double> without_traces(PooledModel& model, const Spreads& prior, double row_spread,
                                   std::vector<double> unknowns) {
  const auto loss = [&](const std::vector<double>& at) {
    double sum = 0;
    for (const double residual : model.residuals(at)) { sum += std::pow(residual / row_spread, 2) / 2; }
    for (std::size_t i = 0; i < at.size(); ++i) { sum += std::pow(at[i] / prior[i], 2) / 2; }
    return sum;
  };
  double least = loss(unknowns);
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    std::vector<double> other = unknowns;
    other[i] = 0;
    const double found = loss(other);
    if (found > least) { continue; }
    least = found;
    unknowns = std::move(other);
  }
  return unknowns;
}

double root_mean_square(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0) /
                   static_cast<double>(values.size()));
}

/// Of points without measured times, at these unknowns, which are known so well.
std::vector<ExpectedTime> times(PooledModel& sizes, const std::vector<double>& unknowns,
                                const SymmetricMatrix& precision) {
  const std::vector<double> logarithms = sizes.residuals(unknowns);
  const Jacobian slopes = jacobian(sizes, unknowns, logarithms);
  std::vector<ExpectedTime> result;
  for (std::size_t i = 0; i < logarithms.size(); ++i) {
    result.push_back({std::exp(logarithms[i]), spread_of(slopes[i], precision)});
  }
  return result;
}

std::vector<TablePoint> unmeasured(const std::vector<TablePoint>& points, const std::vector<Bytes>& sizes) {
  std::vector<TablePoint> result;
  for (const TablePoint& each : points) { result.push_back({each.size, 1}); }
  for (const Bytes size : sizes) { result.push_back({size, 1}); }
  return result;
}

}  // namespace

double ExpectedTime::factor() const {
  constexpr double kEightInTen = 1.2816;  // standard deviations of a normal distribution, on either side
  return std::exp(kEightInTen * spread);
}

PooledModel model_of(const RowCase& of, const std::vector<TablePoint>& points) {
  Tables tables{{of.measured}, {}};
  for (const TablePoint& each : points) { tables.rows.push_back({.size = each.size, .measured_us = each.time_us}); }
  return {std::move(tables), {of.stack}, of.pool};
}

RowFit fit_rows(const RowCase& of, const std::vector<TablePoint>& points, const std::vector<Bytes>& sizes) {
  require(!points.empty(), "rows to fit");
  PooledModel model = model_of(of, points);
  RowFit result;
  result.before = model.prior({});
  const std::vector<double> expected(result.before.size());
  result.row_spread = kGivenSpread;
  result.mode = fit(model, result.before, result.row_spread, expected).mode;
  std::vector<double> residuals = model.residuals(result.mode);
  if (const double off = root_mean_square(residuals); off > kGivenSpread) {
    result.row_spread = off;
    result.mode = fit(model, result.before, off, std::move(result.mode)).mode;
  }
  result.mode = without_traces(model, result.before, result.row_spread, std::move(result.mode));
  residuals = model.residuals(result.mode);
  const SymmetricMatrix told = precision(jacobian(model, result.mode, residuals), result.row_spread, result.before);
  for (const double variance : told.diagonal_of_inverse()) { result.after.push_back(std::sqrt(variance)); }

  PooledModel all = model_of(of, unmeasured(points, sizes));
  const std::vector<ExpectedTime> before = times(all, expected, precision({}, 1, result.before));
  const std::vector<ExpectedTime> after = times(all, result.mode, told);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool given = i < points.size();
    (given ? result.rows : result.sizes)
        .push_back({given ? points[i].size : sizes[i - points.size()], before[i], after[i]});
  }
  return result;
}

}  // namespace athanor
