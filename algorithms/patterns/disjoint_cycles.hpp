#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// Hamiltonian cycles over the ranks, no two of which share a directed link; cycle 2k + 1 is cycle 2k the other way
/// round. Where no dimensions are given, any two ranks may be neighbours, and the cycles go in strides 1, 3, ... that
/// have no divisor in common with the ranks: there are phi(ranks) directed ones (Euler's function). In a torus of two
/// sides a >= b >= 3, where b divides a, and a and b - 1 have no common divisor, there are four, which use every link.
class DisjointCycles {
 public:
  /// At most `most` of them. Requires at least two ranks that these cycles exist for.
  DisjointCycles(std::uint32_t ranks, const Dimensions& dimensions, std::uint32_t most);

  /// Why dimensions have no such cycles, or nothing.
  static std::optional<std::string> refuse(const Dimensions& dimensions);

  std::uint32_t count() const { return count_; }
  std::uint32_t position(std::uint32_t cycle, std::uint32_t rank) const;
  std::uint32_t rank_at(std::uint32_t cycle, std::uint32_t position) const;

 private:
  struct Stride {
    std::uint32_t step = 1;
    std::uint32_t inverse = 1;  ///< of the step, modulo the ranks
  };
  void find_strides(std::uint32_t most);
  std::uint32_t turned(std::uint32_t cycle, std::uint32_t position) const {
    return cycle % 2 == 0 ? position : ranks_ - 1 - position;
  }
  std::uint32_t rank_of(std::uint32_t along, std::uint32_t across) const;
  std::uint32_t torus_position(bool second, std::uint32_t rank) const;
  std::uint32_t torus_rank(bool second, std::uint32_t position) const;

  std::uint32_t ranks_;
  std::uint32_t count_ = 0;
  std::vector<Stride> strides_;  ///< of every other cycle; empty in a torus
  std::uint32_t longer_ = 0;     ///< side of the torus, a multiple of the other
  std::uint32_t shorter_ = 0;
  bool longer_is_last_ = false;  ///< of the dimensions: the longer side varies fastest
  std::uint32_t inverse_ = 0;    ///< of shorter - 1, modulo longer
};

}  // namespace athanor
