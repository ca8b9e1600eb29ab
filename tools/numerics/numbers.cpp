#include "tools/numerics/numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <fmt/core.h>

#include "algorithms/execution/element_values.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

double uniform(RandomStream& random) { return static_cast<double>(random.bits() >> 11) * 0x1p-53; }

/// Without logarithms and cosines, which differ between machines.
double normal(RandomStream& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) { sum += uniform(random); }
  return sum;
}

double mixed(RandomStream& random) {
  const double significand = 1 + uniform(random);
  const auto exponent = static_cast<int>(random.below(16)) - 16;
  return std::ldexp(random.below(2) == 0 ? significand : -significand, exponent);
}

/// Draws one rank's numbers, one after the other.
class NumberSource {
 public:
  NumberSource(NumberDistribution distribution, std::uint64_t seed, std::uint32_t rank)
      : distribution_(distribution),
        rank_(rank),
        own_(seed, fmt::format("rank {}", rank)),
        shared_(seed, fmt::format("pair {}", rank / 2)) {}

  double draw() {
    switch (distribution_) {
      case NumberDistribution::normal: return normal(own_);
      case NumberDistribution::uniform: return uniform(own_);
      case NumberDistribution::mixed_exponents: return mixed(own_);
      case NumberDistribution::cancelling: break;
    }
    const double both = normal(shared_);
    return rank_ % 2 == 0 ? both : std::ldexp(normal(own_), -8) - both;
  }

 private:
  NumberDistribution distribution_;
  std::uint32_t rank_;
  RandomStream own_;
  RandomStream shared_;
};

/// By which integers are multiplied: no draw is above 8, and doubles hold the sum exactly.
double scale_of(DataType type, std::uint32_t ranks) {
  if (is_floating_point(type)) { return 1; }
  const int bits = std::min(40, 8 * static_cast<int>(element_size(type)) - 1);
  return std::ldexp(1.0, std::max(0, bits - 3 - static_cast<int>(std::bit_width(ranks))));
}

}  // namespace

std::string_view name(NumberDistribution distribution) {
  switch (distribution) {
    case NumberDistribution::normal: return "normal";
    case NumberDistribution::uniform: return "uniform";
    case NumberDistribution::mixed_exponents: return "mixed_exponents";
    case NumberDistribution::cancelling: return "cancelling";
  }
  return "";
}

std::span<const NumberDistribution> number_distributions() {
  static constexpr std::array all{NumberDistribution::normal, NumberDistribution::uniform,
                                  NumberDistribution::mixed_exponents, NumberDistribution::cancelling};
  return all;
}

std::vector<std::byte> drawn_elements(NumberDistribution distribution, DataType type, std::uint64_t seed,
                                      std::uint32_t rank, std::uint32_t ranks, std::size_t count) {
  const std::size_t size = element_size(type);
  const double scale = scale_of(type, ranks);
  std::vector<std::byte> elements(count * size);
  NumberSource source(distribution, seed, rank);
  for (std::size_t i = 0; i < count; ++i) { put_element(type, &elements[i * size], source.draw() * scale); }
  return elements;
}

}  // namespace athanor
