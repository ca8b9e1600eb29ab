#pragma once

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

}  // namespace athanor::testing
