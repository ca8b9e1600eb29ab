#include "tools/calibrate/pool/posterior.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tools/calibrate/pool/symmetric_matrix.hpp"

using namespace athanor;

namespace {

/// A model whose rows are sums of unknowns less what was measured.
RowModel linear(std::vector<std::vector<double>> slopes, std::vector<double> measured) {
  const auto residuals = [=](const std::vector<double>& unknowns) {
    std::vector<double> result;
    for (std::size_t row = 0; row < measured.size(); ++row) {
      double sum = -measured[row];
      for (std::size_t i = 0; i < unknowns.size(); ++i) { sum += slopes[row][i] * unknowns[i]; }
      result.push_back(sum);
    }
    return result;
  };
  const auto columns = [=](const std::vector<double>& unknowns, const std::vector<double>&) {
    Slopes all;
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
      Slopes::Column column{{i}, {}};
      for (const std::vector<double>& row : slopes) { column.of_rows.push_back(row[i]); }
      all.columns.push_back(std::move(column));
    }
    return std::vector<Slopes>{all};
  };
  const std::vector<double> weights(measured.size(), 1);
  return {residuals, columns, weights};
}

}  // namespace

TEST_CASE("a symmetric matrix times what it solves is the right side, and its inverse has that diagonal") {
  for (const std::size_t size : {1U, 2U, 5U, 17U}) {
    const auto entry = [](std::size_t i, std::size_t j) {
      return i == j ? 2 + static_cast<double>(i) : 1 / (1.0 + static_cast<double>(i + j));
    };
    SymmetricMatrix matrix(size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        matrix.add(i, j, entry(i, j) / 4);
        matrix.add(i, j, entry(i, j) * 3 / 4);  // both are one entry
      }
    }
    const std::vector<double> diagonal = matrix.diagonal_of_inverse();
    for (std::size_t column = 0; column < size; ++column) {
      std::vector<double> unit(size);
      unit[column] = 1;
      const std::vector<double> solved = matrix.solved(unit);
      CHECK(solved[column] == doctest::Approx(diagonal[column]));
      for (std::size_t i = 0; i < size; ++i) {
        double product = 0;
        for (std::size_t j = 0; j < size; ++j) { product += entry(i, j) * solved[j]; }
        CHECK(product == doctest::Approx(unit[i]));
      }
      const double pair = matrix.sums_of_inverse({{0, column}}).front();
      const double apart = diagonal[0] + diagonal[column] + 2 * solved[0];
      if (column != 0) { CHECK(pair == doctest::Approx(apart)); }
    }
  }
}

TEST_CASE("of one unknown and rows near it, mode and variance are those of normal distributions") {
  // Precisions add up: that of the prior, and of each row; the mode is the mean by precision.
  const double prior = 0.02;
  const std::vector<double> measured{0.001, 0.002, 0.003};
  const RowModel model = linear({{1}, {1}, {1}}, measured);
  const Posterior at = posterior(model, {prior}, {0}, {.iterations = 20, .tolerance = 1e-12});
  const double row = 1 / (kRowSpread * kRowSpread);
  const double precision = 1 / (prior * prior) + 3 * row;
  CHECK(at.mode[0] == doctest::Approx(0.006 * row / precision).epsilon(1e-3));
  CHECK(variances(at, model, {prior})[0] == doctest::Approx(1 / precision).epsilon(1e-3));
}

TEST_CASE("what rows do not tell stays where the prior has it, and as uncertain") {
  const RowModel model = linear({{1, 0}, {1, 0}}, {0.5, 0.5});
  const Posterior at = posterior(model, {1, 0.3}, {0, 0}, {.iterations = 20, .tolerance = 1e-12});
  CHECK(at.mode[0] == doctest::Approx(0.5).epsilon(0.01));
  CHECK(at.mode[1] == doctest::Approx(0));
  CHECK(variances(at, model, {1, 0.3})[1] == doctest::Approx(0.09));
}

TEST_CASE("of a sum that rows tell, each unknown takes its share by its prior's variance") {
  const RowModel model = linear({{1, 1}}, {0.03});
  const Posterior at = posterior(model, {0.1, 0.2}, {0, 0}, {.iterations = 20, .tolerance = 1e-12});
  CHECK(at.mode[1] == doctest::Approx(4 * at.mode[0]));
}

TEST_CASE("one wild row among many moves the mode hardly, and a row of weight 0 not at all") {
  RowModel model = linear({{1}, {1}, {1}, {1}, {1}}, {0.1, 0.1, 0.1, 0.1, 3});
  const std::vector<double> with = posterior(model, {10}, {0}, {.iterations = 50, .tolerance = 1e-12}).mode;
  CHECK(std::abs(with[0] - 0.1) < 0.05);  // least squares: 0.68
  model.weights.back() = 0;
  const std::vector<double> without = posterior(model, {10}, {0}, {.iterations = 50, .tolerance = 1e-12}).mode;
  CHECK(without[0] == doctest::Approx(0.1).epsilon(1e-3));
}

TEST_CASE("far from the mode steps are short, and lead there all the same") {
  const RowModel model = linear({{1}}, {7});
  const Posterior at = posterior(model, {100}, {0}, {.iterations = 60, .tolerance = 1e-12});
  CHECK(at.mode[0] == doctest::Approx(7).epsilon(0.01));
}
