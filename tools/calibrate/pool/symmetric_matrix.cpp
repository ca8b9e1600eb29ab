#include "tools/calibrate/pool/symmetric_matrix.hpp"

#include <cmath>
#include <numeric>

#include "sim/check.hpp"

namespace athanor {

SymmetricMatrix SymmetricMatrix::with_diagonal_times(double factor) const {
  SymmetricMatrix result = *this;
  for (std::size_t i = 0; i < size_; ++i) { result.lower_[at(i, i)] *= factor; }
  return result;
}

SymmetricMatrix SymmetricMatrix::factor() const {
  SymmetricMatrix result = *this;
  double* const rows = result.lower_.data();
  for (std::size_t i = 0; i < size_; ++i) {
    double* const row = rows + at(i, 0);
    for (std::size_t j = 0; j <= i; ++j) {
      const double* const other = rows + at(j, 0);
      const double rest = row[j] - std::inner_product(row, row + j, other, 0.0);
      require(i != j || rest > 0, "a curvature is positive definite");
      row[j] = i == j ? std::sqrt(rest) : rest / other[j];
    }
  }
  return result;
}

void SymmetricMatrix::substitute_forward(std::vector<double>& right) const {
  for (std::size_t i = 0; i < size_; ++i) {
    const double* const row = lower_.data() + at(i, 0);
    right[i] = (right[i] - std::inner_product(row, row + i, right.data(), 0.0)) / row[i];
  }
}

void SymmetricMatrix::substitute_back(std::vector<double>& right) const {
  for (std::size_t i = size_; i-- > 0;) {
    const double* const row = lower_.data() + at(i, 0);
    right[i] /= row[i];
    for (std::size_t j = 0; j < i; ++j) { right[j] -= row[j] * right[i]; }
  }
}

std::vector<double> SymmetricMatrix::solved(std::vector<double> right) const {
  require(right.size() == size_, "as many values as rows");
  const SymmetricMatrix lower = factor();
  lower.substitute_forward(right);
  lower.substitute_back(right);
  return right;
}

std::vector<double> SymmetricMatrix::diagonal_of_inverse() const {
  std::vector<std::vector<std::size_t>> each;
  for (std::size_t i = 0; i < size_; ++i) { each.push_back({i}); }
  return sums_of_inverse(each);
}

std::vector<double> SymmetricMatrix::sums_of_inverse(const std::vector<std::vector<std::size_t>>& sets) const {
  // With L L^T = A and e of ones in the rows of a set, e^T A^-1 e is the square of the norm of L^-1 e.
  const SymmetricMatrix lower = factor();
  std::vector<double> result;
  for (const std::vector<std::size_t>& set : sets) {
    std::vector<double> ones(size_);
    for (const std::size_t row : set) { ones[row] = 1; }
    lower.substitute_forward(ones);
    result.push_back(std::inner_product(ones.begin(), ones.end(), ones.begin(), 0.0));
  }
  return result;
}

}  // namespace athanor
