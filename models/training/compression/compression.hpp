#pragma once

#include <cstdint>
#include <string_view>

#include "sim/ratio.hpp"

namespace athanor {

/// How copies that train the same model send each other fewer bytes.
enum class CompressionKind : std::uint8_t {
  none,
  fp16,            ///< gradients are cast, summed in 16 bits and cast back (PyTorch's fp16_compress_hook)
  bf16,            ///< ... in bfloat16
  fp8,             ///< blocks of 8-bit numbers with a scale each, added up in fp32 by whom they belong to
  int8,            ///< the same with integers
  top_k,           ///< each rank's largest numbers with their places (Aji and Heafield 2017)
  power_sgd,       ///< two factors of low rank for each matrix (Vogels et al. 2019)
  one_bit_adam,    ///< signs of Adam's first moment, the second one being frozen (Tang et al. 2021)
  zero_plus_plus,  ///< of sharded parameters: qwZ, hpZ and qgZ (Wang et al. 2023)
};

/// "none", "fp16", ...: as in scenarios.
std::string_view name(CompressionKind kind);

/// What copies send in place of gradients, or of parameters. What a kind does not have stays as it is here.
struct Compression {
  CompressionKind kind = CompressionKind::none;
  std::uint32_t block = 2048;        ///< fp8, int8, zero_plus_plus: numbers with one scale in fp32
  Ratio density{1, 100};             ///< top_k: share of the numbers that a rank sends, above 0, at most 1
  std::uint32_t rank = 1;            ///< power_sgd: columns of both factors; at least 1
  Ratio least_ratio{2, 1};           ///< power_sgd: a matrix that would not shrink so many times stays as it is
  bool error_feedback = true;        ///< top_k, power_sgd: what was not sent is added to the next gradient
  Ratio warm_up{0, 1};               ///< power_sgd, one_bit_adam: share of a training's steps before it begins
  bool quantized_weights = false;    ///< qwZ: parameters are gathered in int8
  bool secondary_weights = false;    ///< hpZ: a second copy in each node, for backward
  bool quantized_gradients = false;  ///< qgZ: gradients are scattered in int4, first within nodes
  std::uint32_t node_ranks = 0;      ///< hpZ, qgZ: copies in a node; 0: not known yet

  bool operator==(const Compression&) const = default;

  bool is_on() const { return kind != CompressionKind::none; }
  bool quantizes_gradients() const {
    return kind == CompressionKind::fp8 || kind == CompressionKind::int8 || quantized_gradients;
  }
  /// Whether ranks of a node do something together that others do not.
  bool knows_nodes() const { return secondary_weights || quantized_gradients; }
  /// Whether it sums up Adam's moment behind backward, and no gradients.
  bool sends_moments() const { return kind == CompressionKind::one_bit_adam; }
};

/// Bytes of one number of `bits` with its part of a scale in fp32.
constexpr double quantized_bytes(const Compression& compression, double bits) {
  return bits / 8 + 4.0 / compression.block;
}

}  // namespace athanor
