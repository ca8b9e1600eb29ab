#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/contract.hpp"
#include "algorithms/schedule/reduction.hpp"

namespace athanor {

/// Inputs for a real execution of a collective, and what its outputs must then hold, to the bit. Inputs are whole
/// numbers, of which no order of reduction makes anything that the type does not represent: small ones whose sum
/// stays below 2^8 for up to 85 ranks (bfloat16 has 8 bits) and is a multiple of the ranks, powers of two for products.
/// An element's value depends on its rank and its index; it repeats after kPeriod elements, a prime.
class Expectation {
 public:
  static constexpr std::size_t kPeriod = 251;

  Expectation(const Collective& collective, DataType type, Reduction reduction);

  /// What the rank contributes. Requires as many bytes as the rank's input has.
  void fill(std::uint32_t rank, std::span<std::byte> input) const;
  /// The first element of the rank's output that is wrong, in words, or nothing.
  std::optional<std::string> wrong(std::uint32_t rank, std::span<const std::byte> output) const;

 private:
  using Period = std::vector<std::byte>;  ///< kPeriod elements, twice, so that each of them begins a whole period

  Period encode(const std::vector<std::int64_t>& values) const;
  std::optional<std::size_t> first_wrong(const Period& period, std::size_t from,
                                         std::span<const std::byte> output) const;

  Contract contract_;
  DataType type_;
  std::size_t size_;
  std::vector<Period> inputs_;  ///< of each rank
  Period reduced_;
};

}  // namespace athanor
