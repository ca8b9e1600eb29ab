#include "models/training/parameter_share.hpp"

#include <algorithm>
#include <iterator>

#include "sim/check.hpp"

namespace athanor {

namespace {

void add(const LayerMatrix& matrix, std::vector<LayerMatrix>& all) {
  const auto alike = [&](const LayerMatrix& each) {
    return each.in == matrix.in && each.out == matrix.out && each.experts == matrix.experts &&
           each.table == matrix.table;
  };
  const auto found = std::find_if(all.begin(), all.end(), alike);
  if (found == all.end()) { return all.push_back(matrix); }
  found->count += matrix.count;
}

}  // namespace

ParameterShare& ParameterShare::operator+=(const ParameterShare& other) {
  dense += other.dense;
  experts += other.experts;
  for (const LayerMatrix& matrix : other.matrices) { add(matrix, matrices); }
  return *this;
}

ParameterShare times(ParameterShare share, double copies) {
  share.dense *= copies;
  share.experts *= copies;
  for (LayerMatrix& matrix : share.matrices) { matrix.count *= copies; }
  return share;
}

bool lists_matrices(const ParallelPlan& plan) {
  return needs_matrices(plan.optimizer) || plan.compression.kind == CompressionKind::power_sgd;
}

ParameterShare parameter_share(const LayerParameters& layer, const Transformer& model, const ParallelPlan& plan) {
  const double key_ranks = std::max(1U, std::min(plan.tensor, model.attention.kv_heads));
  return {layer.split / plan.tensor + layer.keys / key_ranks + layer.whole,
          layer.experts / (static_cast<double>(plan.expert) * plan.expert_tensor)};
}

ParameterShare layer_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  const bool further = layer >= model.layers;
  ParameterShare share =
      parameter_share(further ? next_token_parameters(model) : layer_parameters(model, layer), model, plan);
  if (!lists_matrices(plan)) { return share; }
  for (const LayerMatrix& matrix : layer_matrices(model, plan, layer)) { add(matrix, share.matrices); }
  if (layer < model.layers && has_experts(model, layer)) {
    add({.in = static_cast<double>(model.hidden), .out = static_cast<double>(model.experts->experts), .table = true},
        share.matrices);
  }
  return share;
}

ParameterShare share_of_embedding(const Transformer& model, const ParallelPlan& plan) {
  ParameterShare share{embedding_share(model, plan), 0};
  if (!lists_matrices(plan)) { return share; }
  share.matrices = {vocabulary_matrix(model, plan)};
  if (model.positions > 0) {
    add({.in = static_cast<double>(model.positions), .out = static_cast<double>(model.hidden), .table = true},
        share.matrices);
  }
  return share;
}

ParameterShare share_of_output(const Transformer& model, const ParallelPlan& plan, bool copy) {
  ParameterShare share{output_share(model, plan, copy), 0};
  const bool own = !model.tied || copy;
  if (own && lists_matrices(plan)) { share.matrices = {vocabulary_matrix(model, plan)}; }
  return share;
}

double mlp_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  return parameter_share(mlp_parameters(model, layer), model, plan).dense;
}

double embedding_share(const Transformer& model, const ParallelPlan& plan) {
  return word_embedding_share(model, plan) + static_cast<double>(model.positions) * model.hidden;
}

double word_embedding_share(const Transformer& model, const ParallelPlan& plan) {
  return static_cast<double>(model.vocabulary) * model.hidden / plan.tensor;
}

double output_share(const Transformer& model, const ParallelPlan& plan, bool copy) {
  const double matrix = static_cast<double>(model.vocabulary) * model.hidden;
  const double norm = output_parameters(model) - (model.tied ? 0 : matrix);
  return norm + (!model.tied || copy ? matrix / plan.tensor : 0);
}

std::uint32_t dense_replicas(const ParallelPlan& plan) { return plan.data * plan.context; }

std::uint32_t expert_replicas(const ParallelPlan& plan) {
  return std::max(1U, plan.tensor * plan.context * plan.data / std::max(1U, plan.expert * plan.expert_tensor));
}

std::vector<LayerMatrix> matrices_of(const ParameterShare& held, bool experts) {
  std::vector<LayerMatrix> found;
  std::copy_if(held.matrices.begin(), held.matrices.end(), std::back_inserter(found),
               [&](const LayerMatrix& matrix) { return matrix.experts == experts; });
  return found;
}

std::vector<LayerMatrix> matrices_of(const PlainLayer& layer, const ParallelPlan& plan) {
  if (layer.rows == 0 || !lists_matrices(plan)) { return {}; }
  return {{.in = layer.parameters / layer.rows, .out = layer.rows}};
}

double updating_ranks(const ParameterShare& held, bool experts, double ranks, const ParallelPlan& plan) {
  if (!needs_matrices(plan.optimizer)) { return ranks; }
  double matrices = 0;
  for (const LayerMatrix& matrix : matrices_of(held, experts)) { matrices += matrix.count; }
  return std::max(1.0, std::min(ranks, matrices));
}

std::uint32_t layers_of(const TrainedModel& model) {
  return model.transformer ? model.transformer->layers : static_cast<std::uint32_t>(model.layers.size());
}

std::uint32_t most_places(const TrainedModel& model) { return layers_of(model) + (model.transformer ? 2 : 0); }

std::vector<std::uint32_t> layers_of_places(std::uint32_t layers, std::uint32_t places) {
  require(places >= 1 && layers >= 1 && layers + 2 >= places, "{} layers at {} places", layers, places);
  std::vector<std::uint32_t> counts(places, layers / places);
  const std::uint32_t more = layers % places;
  const std::uint32_t first = (places - more) / 2;
  for (std::uint32_t i = 0; i < more; ++i) { ++counts[first + i]; }
  return counts;
}

bool spreads_evenly(const TrainedModel& model, std::uint32_t places) {
  const std::uint32_t layers = layers_of(model);
  for (std::uint32_t counted = layers; counted <= most_places(model); ++counted) {
    if (counted % places == 0) { return true; }
  }
  return false;
}

}  // namespace athanor
