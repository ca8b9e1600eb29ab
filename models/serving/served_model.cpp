#include "models/serving/served_model.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/parameter_share.hpp"

namespace athanor {

namespace {

constexpr double kWide = 2;  ///< bytes of a number in 16 bits

bool has_windows(const Transformer& model) {
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    if (window_of(model, layer) > 0) { return true; }
  }
  return false;
}

}  // namespace

std::vector<std::string> obstacles(const ServedModel& served) {
  const Transformer& model = served.model;
  std::vector<std::string> all = contradictions(model, plan_of(served, 1));
  if (!model.attention.causal) { all.emplace_back("its attention is not causal: it generates nothing"); }
  if (has_windows(model)) { all.emplace_back("its attention has windows, which are not served yet"); }
  return all;
}

ParallelPlan plan_of(const ServedModel& served, std::uint32_t tokens) {
  ParallelPlan plan;
  plan.tensor = served.tensor;
  plan.micro_batch = 1;
  plan.global_batch = 1;
  plan.sequence = tokens;
  plan.precision = served.precision;
  if (served.model.experts) { plan.expert_tensor = served.tensor; }
  plan.any_order = true;  // forward alone: a cast is for one product
  return plan;
}

double weight_bytes(const ServedModel& served) {
  const ParallelPlan plan = plan_of(served, 1);
  double bytes = kWide * (embedding_share(served.model, plan) + output_share(served.model, plan, false));
  for (std::uint32_t layer = 0; layer < served.model.layers; ++layer) {
    LayerParameters wide = layer_parameters(served.model, layer);
    LayerParameters matrices = wide;
    matrices.whole = 0;
    wide.split = 0;
    wide.keys = 0;
    wide.experts = 0;
    bytes += bytes_of(served.precision) * parameter_share(matrices, served.model, plan).total() +
             kWide * parameter_share(wide, served.model, plan).total();
  }
  return bytes;
}

double kept_bytes(const ServedModel& served) {
  const Attention& attention = served.model.attention;
  const double bytes = served.model.layers * bytes_of(served.kv_precision);
  if (attention.kind == Attention::Kind::latent) {
    return bytes * (static_cast<double>(attention.kv_rank) + attention.rotary_size);
  }
  const double heads = std::max(1.0, static_cast<double>(attention.kv_heads) / served.tensor);
  return bytes * heads * (static_cast<double>(attention.head_size) + attention.value_size);
}

std::uint64_t pages_that_fit(const ServedModel& served, const GpuRates& gpu, double memory_share, std::uint32_t page) {
  const double room = gpu.memory * memory_share - weight_bytes(served);
  if (room <= 0) { return 0; }
  return static_cast<std::uint64_t>(std::floor(room / (kept_bytes(served) * page)));
}

}  // namespace athanor
