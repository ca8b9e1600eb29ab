#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/training/layer_matrices.hpp"

namespace athanor {

/// "query", "key", ...
std::string_view name(LoraTarget target);
/// In the order of the enumeration.
const std::vector<LoraTarget>& all_lora_targets();

/// In what frozen matrices of layers are kept.
enum class BasePrecision : std::uint8_t {
  wide,  ///< as they are multiplied
  nf4,   ///< 4 bits; scales of 64 numbers in 8 bits, and of 256 such scales one in fp32 (QLoRA)
};
std::string_view name(BasePrecision precision);

/// A set of matrices.
class LoraTargets {
 public:
  LoraTargets() = default;
  explicit LoraTargets(const std::vector<LoraTarget>& targets);

  bool has(LoraTarget target) const { return (bits_ & bit(target)) != 0; }
  std::vector<LoraTarget> list() const;
  auto operator<=>(const LoraTargets&) const = default;

 private:
  static std::uint8_t bit(LoraTarget target) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(target)); }

  std::uint8_t bits_ = 0;
};

/// "query+value".
std::string text_of(const LoraTargets& targets);

/// Low-rank adapters beside a frozen model (Hu et al. 2021): beside a matrix of m x n two of m x rank and rank x n,
/// which alone are trained.
struct Lora {
  std::uint32_t rank = 0;  ///< 0: none, all is trained
  LoraTargets targets{{LoraTarget::query, LoraTarget::value}};
  BasePrecision base = BasePrecision::wide;
  bool operator==(const Lora&) const = default;
};

}  // namespace athanor
