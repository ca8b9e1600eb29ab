#include "tools/calibrate/pool/symmetric_matrix.hpp"

#include <Eigen/SparseCholesky>

#include "sim/check.hpp"

namespace athanor {

namespace {

using Sparse = Eigen::SparseMatrix<double>;
using Vector = Eigen::VectorXd;
/// P A P^T = L L^T, with an order P in which L stays sparse.
using Factor = Eigen::SimplicialLLT<Sparse, Eigen::Lower>;

/// Of a matrix given by its entries (row, column, value) below the diagonal and on it.
template <class Entries>
void factorize(const Entries& entries, std::size_t size, double diagonal_factor, Factor& factor) {
  std::vector<Eigen::Triplet<double>> triplets;
  triplets.reserve(entries.size());
  for (const auto& [row, column, value] : entries) {
    require(row >= column && row < size, "an entry of the lower half");
    triplets.emplace_back(static_cast<int>(row), static_cast<int>(column),
                          row == column ? value * diagonal_factor : value);
  }
  Sparse matrix(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  factor.compute(matrix);
  require(factor.info() == Eigen::Success, "a curvature is positive definite");
}

}  // namespace

std::vector<double> SymmetricMatrix::solved(const std::vector<double>& right, double diagonal_factor) const {
  require(right.size() == size_, "as many values as rows");
  if (size_ == 0) { return {}; }
  Factor factor;
  factorize(entries_, size_, diagonal_factor, factor);
  const Vector solution = factor.solve(Eigen::Map<const Vector>(right.data(), static_cast<Eigen::Index>(size_)));
  return {solution.begin(), solution.end()};
}

std::vector<double> SymmetricMatrix::diagonal_of_inverse() const {
  std::vector<std::vector<std::size_t>> each;
  for (std::size_t i = 0; i < size_; ++i) { each.push_back({i}); }
  return sums_of_inverse(each);
}

std::vector<double> SymmetricMatrix::sums_of_inverse(const std::vector<std::vector<std::size_t>>& sets) const {
  if (sets.empty()) { return {}; }
  Factor factor;
  factorize(entries_, size_, 1, factor);
  // With e of ones in the rows of a set, e^T A^-1 e is the square of the norm of L^-1 P e.
  std::vector<double> result;
  for (const std::vector<std::size_t>& set : sets) {
    Vector ones = Vector::Zero(static_cast<Eigen::Index>(size_));
    for (const std::size_t row : set) { ones[factor.permutationP().indices()[static_cast<Eigen::Index>(row)]] = 1; }
    factor.matrixL().solveInPlace(ones);
    result.push_back(ones.squaredNorm());
  }
  return result;
}

}  // namespace athanor
