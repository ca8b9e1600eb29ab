#include "models/embeddings/recommender.hpp"

#include <cmath>

#include "models/training/work_parts.hpp"

namespace athanor {

namespace {

constexpr double kFp32 = 4;

double mlp_parameters(double in, const std::vector<std::uint32_t>& widths) {
  double sum = 0;
  for (const std::uint32_t width : widths) {
    sum += (in + 1) * width;
    in = width;
  }
  return sum;
}

/// A chain of linear layers, each followed by ReLU but for a last one.
struct LayerChain {
  double samples = 0;
  Precision precision = Precision::fp32;
  bool fused = true;
  double element() const { return bytes_of(precision); }

  void forward(double in, const std::vector<std::uint32_t>& widths, bool ends, const char* label, Kernels& to) const {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      to.push_back(gemm(label, precision, 1, samples, widths[i], in));
      const bool active = !ends || i + 1 < widths.size();
      if (active && !fused) { to.push_back(memory("relu", 2 * samples * widths[i] * element())); }
      in = widths[i];
    }
  }

  /// `wanted`: somebody before wants the gradient of what comes in.
  void backward(double first, const std::vector<std::uint32_t>& widths, bool ends, bool wanted, const char* label,
                Kernels& to) const {
    for (std::size_t i = widths.size(); i-- > 0;) {
      const double in = i == 0 ? first : widths[i - 1];
      const bool active = !ends || i + 1 < widths.size();
      if (active) { to.push_back(memory("relu", 3 * samples * widths[i] * element())); }
      if (!active || !fused) { to.push_back(memory("bias", samples * widths[i] * element())); }
      to.push_back(gemm(label, precision, 1, widths[i], in, samples));
      if (i > 0 || wanted) { to.push_back(gemm(label, precision, 1, samples, in, widths[i])); }
    }
  }
};

/// x' = x0 * (U (V x)) + x, of all inputs.
void add_cross(const RecommenderModel& model, const LayerChain& chain, DenseKernels& kernels) {
  const double inputs = interaction_inputs(model);
  const double rank = model.cross_rank;
  const double vector = chain.samples * inputs * chain.element();
  for (std::uint32_t i = 0; i < model.cross_layers; ++i) {
    kernels.top_forward.push_back(gemm("cross", chain.precision, 1, chain.samples, rank, inputs));
    kernels.top_forward.push_back(gemm("cross", chain.precision, 1, chain.samples, inputs, rank));
    kernels.top_forward.push_back(memory("cross", 4 * vector));
    kernels.top_backward.push_back(memory("cross", 6 * vector));
    for (const auto& [out, in] : {std::pair{inputs, rank}, std::pair{rank, inputs}}) {
      kernels.top_backward.push_back(gemm("cross", chain.precision, 1, out, in, chain.samples));
      kernels.top_backward.push_back(gemm("cross", chain.precision, 1, chain.samples, in, out));
    }
  }
}

/// What goes in is copied side by side, and the products of pairs are made of it.
void add_interaction(const RecommenderModel& model, const LayerChain& chain, DenseKernels& kernels) {
  const double in = chain.samples * interaction_inputs(model) * chain.element();
  const double out = chain.samples * interaction_outputs(model) * chain.element();
  kernels.top_forward.push_back(memory("interaction", 2 * in));
  if (model.interaction == FeatureInteraction::dot) {
    kernels.top_forward.push_back(memory("interaction", in + out));
    kernels.top_backward.push_back(memory("interaction", 2 * in + out));
  } else if (model.interaction == FeatureInteraction::cross) {
    add_cross(model, chain, kernels);
  }
  kernels.top_backward.push_back(memory("interaction", 2 * in));
}

}  // namespace

std::string_view name(FeatureInteraction interaction) {
  switch (interaction) {
    case FeatureInteraction::dot: return "dot";
    case FeatureInteraction::concat: return "concat";
    case FeatureInteraction::cross: return "cross";
  }
  return "";
}

double interaction_inputs(const RecommenderModel& model) {
  double sum = model.bottom.empty() ? 0 : model.bottom.back();
  for (const EmbeddingTable& table : model.tables) { sum += table.width; }
  return sum;
}

double interaction_outputs(const RecommenderModel& model) {
  if (model.interaction != FeatureInteraction::dot) { return interaction_inputs(model); }
  const double own = model.bottom.empty() ? 0 : model.bottom.back();
  const double vectors = static_cast<double>(model.tables.size()) + (model.bottom.empty() ? 0 : 1);
  return own + vectors * (vectors - 1) / 2;
}

double bottom_parameters(const RecommenderModel& model) { return mlp_parameters(model.dense_features, model.bottom); }

double top_parameters(const RecommenderModel& model) {
  const bool cross = model.interaction == FeatureInteraction::cross;
  const double inputs = interaction_inputs(model);
  const double crossed = cross ? model.cross_layers * (2 * inputs * model.cross_rank + inputs) : 0;
  return crossed + mlp_parameters(interaction_outputs(model), model.top);
}

DenseKernels dense_kernels(const RecommenderModel& model, double samples, Precision precision, bool fused) {
  const LayerChain chain{samples, precision, fused};
  DenseKernels kernels;
  chain.forward(model.dense_features, model.bottom, false, "bottom MLP", kernels.bottom_forward);
  DenseKernels met;
  add_interaction(model, chain, met);
  kernels.top_forward = met.top_forward;
  chain.forward(interaction_outputs(model), model.top, true, "top MLP", kernels.top_forward);
  chain.backward(interaction_outputs(model), model.top, true, true, "top MLP", kernels.top_backward);
  kernels.top_backward.insert(kernels.top_backward.end(), met.top_backward.begin(), met.top_backward.end());
  chain.backward(model.dense_features, model.bottom, false, false, "bottom MLP", kernels.bottom_backward);
  const double parameters = bottom_parameters(model) + top_parameters(model);
  if (parameters > 0) { kernels.update.push_back(memory("update", 3 * parameters * kFp32)); }
  return kernels;
}

namespace {

/// Of a shard's look-ups, whose keys tell rows of all tables of a GPU apart: as many bits as its rows need.
double sort_bytes(double lookups, double rows, double index) {
  constexpr double kBits = 8;
  constexpr double kPlace = 4;
  const double passes = std::max(1.0, std::ceil(std::log2(std::max(2.0, rows)) / kBits));
  return lookups * passes * 2 * (index + kPlace);
}

/// That are read and written of each row that is updated.
double update_bytes(double width, const EmbeddingNumbers& numbers) {
  const double weights = 2 * width * bytes_of(numbers.weights);
  switch (numbers.optimizer) {
    case RowOptimizer::sgd: return weights;
    case RowOptimizer::rowwise_adagrad: return weights + 2 * kFp32;
    case RowOptimizer::adagrad: return weights + 2 * width * kFp32;
  }
  return weights;
}

EmbeddingBytes bytes_of_shard(const TableShard& shard, const EmbeddingTable& table, const EmbeddingGrid& grid,
                              const EmbeddingNumbers& numbers) {
  const ShardLoad load = load_of(shard, table, grid);
  const double width = shard.width;
  const double row = width * bytes_of(numbers.weights);
  const double updates = load.distinct * update_bytes(width, numbers);
  const double rows_read = load.lookups * row;
  EmbeddingBytes bytes;
  bytes.forward = load.lookups * numbers.index + load.outputs * width * bytes_of(numbers.pooled);
  bytes.backward = sort_bytes(load.lookups, load.rows, numbers.index);
  bytes.backward += load.lookups * width * bytes_of(numbers.gradients);
  if (table.kept && *table.kept == 0) {
    bytes.host_forward = rows_read;
    bytes.host_backward = updates / 2;
    return bytes;
  }
  bytes.forward += rows_read;
  bytes.backward += updates;
  if (!table.kept) { return bytes; }
  const auto kept = static_cast<std::uint64_t>(static_cast<double>(table.rows) * *table.kept);
  const double samples = static_cast<double>(grid.batch) * table.lookups;
  const double fetched = rows_fetched(*table.access, table.policy, kept, samples) / holders(shard, grid);
  bytes.host_fetch = fetched * update_bytes(width, numbers) / 2;
  bytes.forward += 2 * bytes.host_fetch;  // one comes in, and another one is read to go out
  return bytes;
}

}  // namespace

std::vector<EmbeddingBytes> embedding_bytes(const std::vector<EmbeddingTable>& tables, const TableShards& shards,
                                            const EmbeddingGrid& grid, const EmbeddingNumbers& numbers) {
  std::vector<EmbeddingBytes> all(grid.ranks);
  for (const TableShard& shard : shards) {
    const EmbeddingBytes own = bytes_of_shard(shard, tables[shard.table], grid, numbers);
    const std::uint32_t first = first_holder(shard, grid);
    for (std::uint32_t i = 0; i < holders(shard, grid); ++i) {
      EmbeddingBytes& sum = all[first + i];
      sum.forward += own.forward;
      sum.backward += own.backward;
      sum.host_forward += own.host_forward;
      sum.host_backward += own.host_backward;
      sum.host_fetch += own.host_fetch;
    }
  }
  return all;
}

}  // namespace athanor
