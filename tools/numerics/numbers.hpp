#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/schedule/reduction.hpp"

namespace athanor {

/// What the ranks' contributions are drawn from. Integers are what is drawn, times a power of two, rounded.
enum class NumberDistribution : std::uint8_t {
  normal,           ///< about 0, standard deviation 1: the sum of twelve uniform numbers, less 6
  uniform,          ///< from 0 to 1: nothing cancels
  mixed_exponents,  ///< of either sign, (1 + u) * 2^k with k from -16 to -1, each as likely
  cancelling,       ///< rank 2i + 1 has what rank 2i has with the other sign, and 2^-8 of another normal number
};

/// "normal", ...
std::string_view name(NumberDistribution distribution);
/// All of them, in the order of their declaration.
std::span<const NumberDistribution> number_distributions();

/// `count` elements of a rank, as they stand in memory: the same on every machine, another for each seed. `ranks` tell
/// how far integers are scaled, so that about so many of them can be added without wrapping.
std::vector<std::byte> drawn_elements(NumberDistribution distribution, DataType type, std::uint64_t seed,
                                      std::uint32_t rank, std::uint32_t ranks, std::size_t count);

}  // namespace athanor
