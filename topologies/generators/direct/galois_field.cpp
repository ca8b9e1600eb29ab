#include "topologies/generators/direct/galois_field.hpp"

#include "sim/check.hpp"

namespace athanor {

std::optional<std::uint32_t> prime_base(std::uint32_t q) {
  if (q < 2) { return std::nullopt; }
  std::uint32_t p = 2;
  while (q % p != 0) { p = std::uint64_t{p} * p > q ? q : p + 1; }
  while (q % p == 0) { q /= p; }
  return q == 1 ? std::optional(p) : std::nullopt;
}

GaloisField::GaloisField(std::uint32_t q) : q_(q) {
  const std::optional<std::uint32_t> p = prime_base(q);
  require(p.has_value() && q <= 65'536, "a field of {} elements", q);
  make_sums(*p);
  logarithms_.resize(q);
  if (*p == q) {
    for (std::uint32_t root = 1; powers_.size() != q - 1; ++root) { try_root(root); }
  } else {
    std::uint32_t low = 1;
    while (!try_polynomial(*p, low)) { ++low; }
  }
  for (std::uint32_t exponent = 0; exponent + 1 < q; ++exponent) { logarithms_[powers_[exponent]] = exponent; }
}

void GaloisField::make_sums(std::uint32_t p) {
  sums_.resize(std::size_t{q_} * q_);
  negatives_.resize(q_);
  for (std::uint32_t a = 0; a < q_; ++a) {
    for (std::uint32_t b = 0; b < q_; ++b) {
      std::uint32_t sum = 0;
      for (std::uint32_t digit = 1; digit < q_; digit *= p) { sum += (a / digit + b / digit) % p * digit; }
      sums_[std::size_t{a} * q_ + b] = static_cast<std::uint16_t>(sum);
      if (sum == 0) { negatives_[a] = b; }
    }
  }
}

/// Of a prime field: the powers of `root` modulo q, complete where it is primitive.
void GaloisField::try_root(std::uint32_t root) {
  powers_ = {1};
  for (std::uint64_t power = root % q_; power != 1; power = power * root % q_) {
    powers_.push_back(static_cast<std::uint32_t>(power));
  }
}

/// The powers of x modulo the polynomial x^n + ... whose other coefficients are the digits of `low`. False where they
/// return before all elements have been seen: x is no primitive element then.
bool GaloisField::try_polynomial(std::uint32_t p, std::uint32_t low) {
  powers_.clear();
  std::uint32_t power = 1;
  do {
    powers_.push_back(power);
    const std::uint32_t top = power / (q_ / p);
    power = power % (q_ / p) * p;
    // x^n is minus the others.
    for (std::uint32_t i = 0; i < top; ++i) { power = add(power, negatives_[low]); }
  } while (power != 1 && power != 0 && powers_.size() < q_);
  return power == 1 && powers_.size() == q_ - 1;
}

}  // namespace athanor
