#include "models/training/layer_matrices.hpp"

#include <algorithm>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

namespace {

void add_grouped(const Transformer& model, const ParallelPlan& plan, std::vector<LayerMatrix>& all) {
  const Attention& attention = model.attention;
  const double hidden = model.hidden;
  const double key_ranks = std::max(1U, std::min(plan.tensor, attention.kv_heads));
  const double keys = static_cast<double>(attention.kv_heads) * attention.head_size / key_ranks;
  all.push_back({.in = hidden, .out = head_sizes(attention).queries / plan.tensor, .target = LoraTarget::query});
  all.push_back({.in = hidden, .out = keys, .target = LoraTarget::key});
  all.push_back({.in = hidden, .out = keys, .target = LoraTarget::value});
}

/// Every tensor rank compresses all tokens.
void add_latent(const Transformer& model, const ParallelPlan& plan, std::vector<LayerMatrix>& all) {
  const Attention& attention = model.attention;
  const double hidden = model.hidden;
  const double keys = static_cast<double>(attention.heads) * (attention.head_size + attention.value_size);
  const double rank = attention.query_rank;
  if (rank > 0) { all.push_back({.in = hidden, .out = rank}); }
  all.push_back({.in = rank > 0 ? rank : hidden, .out = head_sizes(attention).queries / plan.tensor});
  all.push_back({.in = hidden, .out = static_cast<double>(attention.kv_rank) + attention.rotary_size});
  all.push_back({.in = static_cast<double>(attention.kv_rank), .out = keys / plan.tensor});
}

/// `like`: how many, and whether they are experts.
void add_mlp(const Transformer& model, double ffn, const LayerMatrix& like, std::vector<LayerMatrix>& all) {
  const auto add = [&](double in, double out, LoraTarget target) {
    LayerMatrix matrix = like;
    matrix.in = in;
    matrix.out = out;
    matrix.target = target;
    all.push_back(matrix);
  };
  if (ffn == 0) { return; }
  if (model.gated) { add(model.hidden, ffn, LoraTarget::gate); }
  add(model.hidden, ffn, LoraTarget::up);
  add(ffn, model.hidden, LoraTarget::down);
}

}  // namespace

std::vector<LayerMatrix> layer_matrices(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  std::vector<LayerMatrix> all;
  const double hidden = model.hidden;
  if (model.attention.kind == Attention::Kind::latent) {
    add_latent(model, plan, all);
  } else {
    add_grouped(model, plan, all);
  }
  all.push_back({.in = head_sizes(model.attention).values / plan.tensor, .out = hidden, .target = LoraTarget::output});
  double ffn = model.ffn;
  if (has_experts(model, layer)) {
    const Experts& experts = *model.experts;
    const double here = static_cast<double>(experts.experts) / plan.expert;
    add_mlp(model, static_cast<double>(experts.ffn) / plan.expert_tensor, {.count = here, .experts = true}, all);
    ffn = experts.shared_ffn;
  }
  add_mlp(model, ffn / plan.tensor, {}, all);
  if (layer >= model.layers) { all.push_back({.in = 2 * hidden, .out = hidden / plan.tensor}); }
  return all;
}

LayerMatrix vocabulary_matrix(const Transformer& model, const ParallelPlan& plan) {
  return {.in = static_cast<double>(model.vocabulary) / plan.tensor,
          .out = static_cast<double>(model.hidden),
          .table = true};
}

}  // namespace athanor
