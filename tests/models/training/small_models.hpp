#pragma once

#include <algorithm>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// As GPT-3: biases, an MLP of two matrices and 4 h, learned positions, one matrix for embedding and output.
inline Transformer gpt(std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads) {
  Transformer model;
  model.layers = layers;
  model.hidden = hidden;
  model.attention.heads = model.attention.kv_heads = heads;
  model.attention.head_size = model.attention.value_size = hidden / heads;
  model.ffn = 4 * hidden;
  model.gated = false;
  model.biases = model.norm_biases = true;
  model.vocabulary = 51200;
  model.tied = true;
  model.positions = 2048;
  return model;
}

/// As Llama: no biases, a gated MLP of 3 h, rotary positions, two matrices for embedding and output.
inline Transformer llama(std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads) {
  Transformer model = gpt(layers, hidden, heads);
  model.ffn = 3 * hidden;
  model.gated = true;
  model.biases = model.norm_biases = model.tied = false;
  model.positions = 0;
  return model;
}

/// Layers from `first` on have experts.
inline Transformer with_experts(Transformer model, std::uint32_t experts, std::uint32_t chosen, std::uint32_t ffn,
                                std::uint32_t first) {
  model.experts = Experts{.experts = experts,
                          .chosen = chosen,
                          .ffn = ffn,
                          .shared_ffn = 0,
                          .layers = std::vector<bool>(model.layers, true)};
  for (std::uint32_t layer = 0; layer < std::min(first, model.layers); ++layer) {
    model.experts->layers[layer] = false;
  }
  return model;
}

}  // namespace athanor
