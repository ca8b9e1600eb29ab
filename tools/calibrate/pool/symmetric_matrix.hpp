#pragma once

#include <cstddef>
#include <vector>

namespace athanor {

/// A symmetric matrix of which most entries are zero, as the sum of what was added. What it is for is positive
/// definite: curvatures of a loss, whose unknowns are mostly of one stack and so meet few others.
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::size_t size) : size_(size) {}

  std::size_t size() const { return size_; }
  /// To the entry and the one across the diagonal from it, which are the same. Requires row >= column.
  void add(std::size_t row, std::size_t column, double value) { entries_.push_back({row, column, value}); }

  /// x of this * x = right, with the diagonal times a factor. Requires a positive definite matrix of right.size().
  std::vector<double> solved(const std::vector<double>& right, double diagonal_factor = 1) const;
  /// Requires a positive definite matrix.
  std::vector<double> diagonal_of_inverse() const;
  /// Of each set of rows the sum of the inverse's entries in these rows and columns: with covariances in the inverse,
  /// the variance of a sum. Requires a positive definite matrix.
  std::vector<double> sums_of_inverse(const std::vector<std::vector<std::size_t>>& sets) const;

 private:
  struct Entry {
    std::size_t row;
    std::size_t column;
    double value;
  };

  std::size_t size_;
  std::vector<Entry> entries_;  // of the lower half; several of one place add up
};

}  // namespace athanor
