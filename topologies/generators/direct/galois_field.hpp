#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace athanor {

/// The finite field of q = p^n elements. Element e stands for the polynomial whose coefficients are the digits of e in
/// base p; 0 and 1 are what they are called. Addition and multiplication by tables: O(q^2) memory.
class GaloisField {
 public:
  /// Requires a prime power q, q <= 65536; see prime_base.
  explicit GaloisField(std::uint32_t q);

  std::uint32_t size() const { return q_; }
  std::uint32_t add(std::uint32_t a, std::uint32_t b) const { return sums_[a * q_ + b]; }
  std::uint32_t subtract(std::uint32_t a, std::uint32_t b) const { return add(a, negatives_[b]); }
  std::uint32_t multiply(std::uint32_t a, std::uint32_t b) const {
    return a == 0 || b == 0 ? 0 : powers_[(logarithms_[a] + logarithms_[b]) % (q_ - 1)];
  }
  /// Requires b != 0.
  std::uint32_t divide(std::uint32_t a, std::uint32_t b) const {
    return a == 0 ? 0 : powers_[(logarithms_[a] + q_ - 1 - logarithms_[b]) % (q_ - 1)];
  }
  /// xi^exponent of a primitive element xi, whose powers are all elements but 0.
  std::uint32_t power(std::uint32_t exponent) const { return powers_[exponent % (q_ - 1)]; }

 private:
  void make_sums(std::uint32_t p);
  bool try_polynomial(std::uint32_t p, std::uint32_t low);
  void try_root(std::uint32_t root);

  std::uint32_t q_;
  std::vector<std::uint16_t> sums_;        // [a][b]
  std::vector<std::uint32_t> negatives_;   // by element
  std::vector<std::uint32_t> powers_;      // by exponent below q - 1
  std::vector<std::uint32_t> logarithms_;  // by element; of 0: unused
};

/// p where q = p^n for a prime p and n >= 1; none where q is no prime power.
std::optional<std::uint32_t> prime_base(std::uint32_t q);

}  // namespace athanor
