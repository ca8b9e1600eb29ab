#include <algorithm>

#include "models/training/layer_work.hpp"

namespace athanor {

namespace {

/// Elements of the matrices of a layer that one token is multiplied with; no router.
double matrix_elements(const Transformer& model, std::uint32_t layer) {
  const Attention& attention = model.attention;
  const double hidden = model.hidden;
  const HeadSizes sizes = head_sizes(attention);
  double sum = sizes.values * hidden;
  if (attention.kind == Attention::Kind::latent) {
    const double rank = attention.query_rank;
    sum += rank > 0 ? rank * (hidden + sizes.queries) : hidden * sizes.queries;
    sum += hidden * (static_cast<double>(attention.kv_rank) + attention.rotary_size);
    sum += attention.kv_rank * static_cast<double>(attention.heads) * (attention.head_size + attention.value_size);
  } else {
    sum += hidden * (sizes.queries + 2.0 * attention.kv_heads * attention.head_size);
  }
  const bool experts = has_experts(model, layer);
  const double ffn =
      experts ? static_cast<double>(model.experts->chosen) * model.experts->ffn + model.experts->shared_ffn : model.ffn;
  return sum + (model.gated ? 3 : 2) * hidden * ffn;
}

double layer_flops(const Transformer& model, double sequence, std::uint32_t layer) {
  const double window = window_of(model, layer);
  const double attended = window > 0 ? std::min(window, sequence) : sequence;
  const HeadSizes sizes = head_sizes(model.attention);
  return 2 * sequence * (matrix_elements(model, layer) + attended * (sizes.queries + sizes.values));
}

}  // namespace

double model_flops(const Transformer& model, std::uint32_t sequence) {
  const double hidden = model.hidden;
  double sum = 0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) { sum += layer_flops(model, sequence, layer); }
  const double further = model.next_token_layers;
  sum += further * (layer_flops(model, sequence, model.layers) + 4.0 * sequence * hidden * hidden);
  sum += (1 + further) * 2.0 * sequence * hidden * model.vocabulary;
  return 3 * sum;
}

double model_flops(const TrainedModel& model, std::uint32_t sequence) {
  if (model.transformer) { return model_flops(*model.transformer, sequence); }
  double sum = 0;
  for (const PlainLayer& layer : model.layers) {
    sum += layer.forward_flops + (layer.backward_flops > 0 ? layer.backward_flops : 2 * layer.forward_flops);
  }
  return sum;
}

}  // namespace athanor
