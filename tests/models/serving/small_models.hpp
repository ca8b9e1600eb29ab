#pragma once

#include <algorithm>

#include "models/serving/served_model.hpp"

namespace athanor::testing {

/// Llama 3.1 of 8 and 70 billion parameters (Llama Team, The Llama 3 Herd of Models, table 3).
inline Transformer llama(std::uint32_t layers, std::uint32_t hidden, std::uint32_t ffn, std::uint32_t heads) {
  Transformer model;
  model.layers = layers;
  model.hidden = hidden;
  model.ffn = ffn;
  model.attention.heads = heads;
  model.attention.kv_heads = 8;
  model.attention.head_size = 128;
  model.attention.value_size = 128;
  model.vocabulary = 128'256;
  return model;
}
inline Transformer llama_8b() { return llama(32, 4096, 14'336, 32); }
inline Transformer llama_70b() { return llama(80, 8192, 28'672, 64); }

/// DeepSeek-V3 (2024, section 4.2), without the layer of a further token.
inline Transformer deepseek_v3() {
  Transformer model = llama(61, 7168, 18'432, 128);
  model.attention = {.kind = Attention::Kind::latent,
                     .heads = 128,
                     .head_size = 128,
                     .value_size = 128,
                     .rotary_size = 64,
                     .query_rank = 1536,
                     .kv_rank = 512};
  model.vocabulary = 129'280;
  model.experts =
      Experts{.experts = 256, .chosen = 8, .ffn = 2048, .shared_ffn = 2048, .layers = std::vector<bool>(61, true)};
  std::fill_n(model.experts->layers.begin(), 3, false);
  return model;
}

}  // namespace athanor::testing
