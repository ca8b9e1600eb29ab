#include "algorithms/patterns/disjoint_cycles.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace athanor {

namespace {

/// The inverse of `value` modulo `modulus`, by Euclid's algorithm; requires that they have no common divisor.
std::uint32_t inverse_of(std::uint32_t value, std::uint32_t modulus) {
  std::int64_t coefficient = 0;
  std::int64_t next = 1;
  std::int64_t rest = modulus;
  std::int64_t divisor = value % modulus;
  while (divisor != 0) {
    const std::int64_t quotient = rest / divisor;
    rest -= quotient * divisor;
    std::swap(rest, divisor);
    coefficient -= quotient * next;
    std::swap(coefficient, next);
  }
  return static_cast<std::uint32_t>((coefficient + modulus) % modulus);
}

std::uint32_t product(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b % modulus);
}

}  // namespace

std::optional<std::string> DisjointCycles::refuse(const Dimensions& dimensions) {
  if (dimensions[0] == 0) { return std::nullopt; }
  const auto [shorter, longer] = std::minmax(dimensions[0], dimensions[1]);
  if (dimensions[1] == 0 || dimensions[2] != 0) { return "disjoint cycles are known for tori of two dimensions only"; }
  if (shorter > 2 && longer % shorter == 0 && std::gcd(longer, shorter - 1) == 1) { return std::nullopt; }
  return fmt::format(
      "for a torus of {} x {} no disjoint cycles are known: one side must be a multiple of the other, which is 3 or "
      "more, and have no divisor in common with the other less one",
      dimensions[0], dimensions[1]);
}

DisjointCycles::DisjointCycles(std::uint32_t ranks, const Dimensions& dimensions, std::uint32_t most) : ranks_(ranks) {
  if (dimensions[0] == 0) {
    find_strides(most);
    return;
  }
  longer_is_last_ = dimensions[1] > dimensions[0];
  longer_ = std::max(dimensions[0], dimensions[1]);
  shorter_ = std::min(dimensions[0], dimensions[1]);
  inverse_ = inverse_of(shorter_ - 1, longer_);
  count_ = std::min(most, 4U);
}

/// A stride beyond half of the ranks is another one the other way round.
void DisjointCycles::find_strides(std::uint32_t most) {
  for (std::uint32_t step = 1; count_ < most && step <= ranks_ / 2; ++step) {
    if (std::gcd(step, ranks_) != 1) { continue; }
    strides_.push_back({step, inverse_of(step, ranks_)});
    count_ += ranks_ == 2 ? 1 : 2;
  }
  count_ = std::min(count_, most);
}

std::uint32_t DisjointCycles::position(std::uint32_t cycle, std::uint32_t rank) const {
  if (strides_.empty()) { return turned(cycle, torus_position(cycle >= 2, rank)); }
  return turned(cycle, product(rank, strides_[cycle / 2].inverse, ranks_));
}

std::uint32_t DisjointCycles::rank_at(std::uint32_t cycle, std::uint32_t position) const {
  const std::uint32_t here = turned(cycle, position);
  if (strides_.empty()) { return torus_rank(cycle >= 2, here); }
  return product(here, strides_[cycle / 2].step, ranks_);
}

/// `along` counts on the longer side.
std::uint32_t DisjointCycles::rank_of(std::uint32_t along, std::uint32_t across) const {
  return longer_is_last_ ? across * longer_ + along : along * shorter_ + across;
}

/// The first cycle goes around the shorter side but for one link, takes one link along the longer side, and so on: it
/// enters the ring at a = along at across = -a. The second takes what is left: shorter - 1 links along, one across.
std::uint32_t DisjointCycles::torus_rank(bool second, std::uint32_t position) const {
  const std::uint32_t round = position / shorter_;
  const std::uint32_t inside = position % shorter_;
  if (!second) { return rank_of(round, (inside + product(round, shorter_ - 1, shorter_)) % shorter_); }
  return rank_of((product(round, shorter_ - 1, longer_) + inside) % longer_, round % shorter_);
}

std::uint32_t DisjointCycles::torus_position(bool second, std::uint32_t rank) const {
  const std::uint32_t along = longer_is_last_ ? rank % longer_ : rank / shorter_;
  const std::uint32_t across = longer_is_last_ ? rank / longer_ : rank % shorter_;
  const std::uint32_t inside = (along + across) % shorter_;
  if (!second) { return along * shorter_ + inside; }
  return product((along + longer_ - inside) % longer_, inverse_, longer_) * shorter_ + inside;
}

}  // namespace athanor
