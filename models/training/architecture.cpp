#include "models/training/architecture.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace athanor {

namespace {

void check_latent(const Attention& attention, std::vector<std::string>& faults) {
  if (attention.kv_rank == 0) { faults.emplace_back("latent attention needs \"kv_rank\", the size of what is cached"); }
  if (attention.rotary_size == 0) { faults.emplace_back("latent attention needs \"rotary_size\""); }
  if (attention.norms) { faults.emplace_back("norms of queries and keys go with grouped attention"); }
}

void check_grouped(const Attention& attention, std::vector<std::string>& faults) {
  if (attention.kv_heads == 0 || attention.heads % attention.kv_heads != 0) {
    faults.push_back(
        fmt::format("{} heads cannot share {} heads of keys and values evenly", attention.heads, attention.kv_heads));
  }
  if (attention.value_size != attention.head_size) {
    faults.push_back(
        fmt::format("values of {} beside keys of {} need latent attention", attention.value_size, attention.head_size));
  }
  if (attention.rotary_size > 0 || attention.kv_rank > 0 || attention.query_rank > 0) {
    faults.emplace_back("\"rotary_size\", \"kv_rank\" and \"query_rank\" are of latent attention");
  }
}

void check_experts(const Transformer& model, std::vector<std::string>& faults) {
  const Experts& experts = *model.experts;
  if (experts.chosen == 0 || experts.chosen > experts.experts) {
    faults.push_back(fmt::format("a token cannot choose {} of {} experts", experts.chosen, experts.experts));
  }
  if (experts.layers.size() != model.layers) {
    faults.push_back(
        fmt::format("experts are told for {} layers, but there are {}", experts.layers.size(), model.layers));
  } else if (std::none_of(experts.layers.begin(), experts.layers.end(), [](bool has) { return has; })) {
    faults.emplace_back("no layer has the experts");
  }
  if (experts.ffn == 0) { faults.emplace_back("experts need an \"ffn\""); }
}

bool has_mlp(const Transformer& model) {
  return !model.experts ||
         std::find(model.experts->layers.begin(), model.experts->layers.end(), false) != model.experts->layers.end();
}

}  // namespace

std::vector<std::string> contradictions(const Transformer& model) {
  std::vector<std::string> faults;
  const Attention& attention = model.attention;
  if (model.layers == 0 || model.hidden == 0 || model.vocabulary == 0 || attention.heads == 0 ||
      attention.head_size == 0) {
    faults.emplace_back("layers, hidden size, heads, their size and the vocabulary are at least 1");
  }
  if (attention.kind == Attention::Kind::latent) {
    check_latent(attention, faults);
  } else {
    check_grouped(attention, faults);
  }
  if (attention.full_every > 0 && attention.window == 0) {
    faults.emplace_back("\"full_every\" tells which layers have no window, but there is no \"window\"");
  }
  if (model.experts) { check_experts(model, faults); }
  if (model.ffn == 0 && has_mlp(model)) { faults.emplace_back("layers without experts need an \"ffn\""); }
  return faults;
}

bool has_experts(const Transformer& model, std::uint32_t layer) {
  if (!model.experts || model.experts->layers.empty()) { return false; }
  return model.experts->layers[std::min<std::size_t>(layer, model.experts->layers.size() - 1)];
}

std::uint32_t window_of(const Transformer& model, std::uint32_t layer) {
  const std::uint32_t every = model.attention.full_every;
  return every > 0 && (layer + 1) % every == 0 ? 0 : model.attention.window;
}

HeadSizes head_sizes(const Attention& attention) {
  const double heads = attention.heads;
  return {heads * (attention.head_size + attention.rotary_size), heads * attention.value_size};
}

namespace {

double norm_parameters(const Transformer& model, double size) { return size * (model.norm_biases ? 2 : 1); }

/// A matrix and its biases where there are any.
double linear(double in, double out, bool biases) { return in * out + (biases ? out : 0); }

void add_grouped(const Transformer& model, LayerParameters& sum) {
  const Attention& attention = model.attention;
  const double hidden = model.hidden;
  const bool biases = model.biases || model.qkv_biases;
  const double keys = static_cast<double>(attention.kv_heads) * attention.head_size;
  sum.split += linear(hidden, head_sizes(attention).queries, biases);
  sum.keys += 2 * linear(hidden, keys, biases);
  if (attention.norms) { sum.whole += 2 * norm_parameters(model, attention.head_size); }
}

void add_latent(const Transformer& model, LayerParameters& sum) {
  const Attention& attention = model.attention;
  const double hidden = model.hidden;
  const double queries = head_sizes(attention).queries;
  const double keys = static_cast<double>(attention.heads) * (attention.head_size + attention.value_size);
  if (attention.query_rank > 0) {
    sum.whole += linear(hidden, attention.query_rank, model.qkv_biases) + norm_parameters(model, attention.query_rank);
    sum.split += attention.query_rank * queries;
  } else {
    sum.split += hidden * queries;
  }
  sum.whole += linear(hidden, static_cast<double>(attention.kv_rank) + attention.rotary_size, model.qkv_biases);
  sum.whole += norm_parameters(model, attention.kv_rank);
  sum.split += attention.kv_rank * keys;
}

void add_attention(const Transformer& model, LayerParameters& sum) {
  if (model.attention.kind == Attention::Kind::latent) {
    add_latent(model, sum);
  } else {
    add_grouped(model, sum);
  }
  sum.split += head_sizes(model.attention).values * model.hidden;
  if (model.biases) { sum.whole += model.hidden; }
  if (model.attention.sinks) { sum.split += model.attention.heads; }
}

/// An MLP, or one expert: what is split, and the biases of its output.
struct MlpParameters {
  double split = 0;
  double output_biases = 0;
};

MlpParameters mlp(const Transformer& model, double ffn) {
  const double hidden = model.hidden;
  const double up = linear(hidden, ffn, model.biases) * (model.gated ? 2 : 1);
  return {up + ffn * hidden, model.biases ? hidden : 0};
}

void add_experts(const Transformer& model, LayerParameters& sum) {
  const Experts& experts = *model.experts;
  const MlpParameters expert = mlp(model, experts.ffn);
  sum.experts += experts.experts * (expert.split + expert.output_biases);
  sum.whole += linear(model.hidden, experts.experts, model.biases);
}

}  // namespace

LayerParameters mlp_parameters(const Transformer& model, std::uint32_t layer) {
  LayerParameters sum;
  const double ffn = has_experts(model, layer) ? model.experts->shared_ffn : model.ffn;
  if (ffn == 0) { return sum; }
  const MlpParameters all = mlp(model, ffn);
  sum.split = all.split;
  sum.whole = all.output_biases;
  return sum;
}

LayerParameters layer_parameters(const Transformer& model, std::uint32_t layer) {
  LayerParameters sum;
  add_attention(model, sum);
  if (has_experts(model, layer)) { add_experts(model, sum); }
  const LayerParameters mlp = mlp_parameters(model, layer);
  sum.split += mlp.split;
  sum.whole += mlp.whole;
  sum.whole += model.norms * norm_parameters(model, model.hidden);
  return sum;
}

LayerParameters next_token_parameters(const Transformer& model) {
  LayerParameters sum = layer_parameters(model, model.layers);
  const double hidden = model.hidden;
  sum.split += 2 * hidden * hidden;
  sum.whole += 3 * norm_parameters(model, hidden);
  return sum;
}

double embedding_parameters(const Transformer& model) {
  return (static_cast<double>(model.vocabulary) + model.positions) * model.hidden;
}

double output_parameters(const Transformer& model) {
  const double matrix = model.tied ? 0 : static_cast<double>(model.vocabulary) * model.hidden;
  return matrix + norm_parameters(model, model.hidden);
}

double parameters(const Transformer& model) {
  double sum = embedding_parameters(model) + output_parameters(model);
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) { sum += layer_parameters(model, layer).total(); }
  return sum;
}

double parameters(const TrainedModel& model) {
  if (model.transformer) { return parameters(*model.transformer); }
  double sum = 0;
  for (const PlainLayer& layer : model.layers) { sum += layer.parameters; }
  return sum;
}

double active_parameters(const Transformer& model) {
  double sum = parameters(model);
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    if (!has_experts(model, layer)) { continue; }
    const double idle = model.experts->experts - model.experts->chosen;
    sum -= layer_parameters(model, layer).experts * idle / model.experts->experts;
  }
  return sum;
}

}  // namespace athanor
