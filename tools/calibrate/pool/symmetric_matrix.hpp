#pragma once

#include <cstddef>
#include <vector>

namespace athanor {

/// A symmetric matrix whose lower half is stored. What it is for is positive definite: curvatures of a loss.
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::size_t size) : size_(size), lower_(size * (size + 1) / 2) {}

  std::size_t size() const { return size_; }
  double operator()(std::size_t row, std::size_t column) const { return lower_[at(row, column)]; }
  void add(std::size_t row, std::size_t column, double value) { lower_[at(row, column)] += value; }

  SymmetricMatrix with_diagonal_times(double factor) const;
  /// x of this * x = right. Requires a positive definite matrix of right.size().
  std::vector<double> solved(std::vector<double> right) const;
  /// Requires a positive definite matrix.
  std::vector<double> diagonal_of_inverse() const;
  /// Of each set of rows the sum of the inverse's entries in these rows and columns: with covariances in the inverse,
  /// the variance of a sum. Requires a positive definite matrix.
  std::vector<double> sums_of_inverse(const std::vector<std::vector<std::size_t>>& sets) const;

 private:
  std::size_t at(std::size_t row, std::size_t column) const {
    return row >= column ? row * (row + 1) / 2 + column : column * (column + 1) / 2 + row;
  }
  /// Cholesky's lower triangle.
  SymmetricMatrix factor() const;
  void substitute_forward(std::vector<double>& right) const;
  void substitute_back(std::vector<double>& right) const;

  std::size_t size_;
  std::vector<double> lower_;  // row by row
};

}  // namespace athanor
