#include "models/training/adapters.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"
#include "models/training/work_parts.hpp"

namespace athanor {

namespace {

bool has_adapter(const ParallelPlan& plan, const LayerMatrix& matrix) {
  return matrix.target && plan.lora.targets.has(*matrix.target);
}

/// Both matrices of an adapter beside `matrix`.
ParameterShare adapter(const LayerMatrix& matrix, const ParallelPlan& plan) {
  const double rank = plan.lora.rank;
  const double parameters = matrix.count * rank * (matrix.in + matrix.out);
  ParameterShare share{matrix.experts ? 0 : parameters, matrix.experts ? parameters : 0};
  if (!lists_matrices(plan)) { return share; }
  LayerMatrix in = matrix;
  LayerMatrix out = matrix;
  in.out = out.in = rank;
  share.matrices = {in, out};
  return share;
}

}  // namespace

ParameterShare trained_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  if (!plan.freezes()) { return layer_share(model, plan, layer); }
  ParameterShare share;
  for (const LayerMatrix& matrix : layer_matrices(model, plan, layer)) {
    if (has_adapter(plan, matrix)) { share += adapter(matrix, plan); }
  }
  return share;
}

double trained_mlp_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  if (!plan.freezes()) { return mlp_share(model, plan, layer); }
  double sum = 0;
  for (const LayerMatrix& matrix : layer_matrices(model, plan, layer)) {
    const bool mlp = matrix.target && *matrix.target >= LoraTarget::gate;
    if (mlp && has_adapter(plan, matrix)) { sum += adapter(matrix, plan).dense; }
  }
  return sum;
}

ParameterShare trained_embedding(const Transformer& model, const ParallelPlan& plan) {
  return plan.freezes() ? ParameterShare{} : share_of_embedding(model, plan);
}

ParameterShare trained_output(const Transformer& model, const ParallelPlan& plan, bool copy) {
  return plan.freezes() ? ParameterShare{} : share_of_output(model, plan, copy);
}

FrozenBytes& FrozenBytes::operator+=(const FrozenBytes& other) {
  dense += other.dense;
  experts += other.experts;
  return *this;
}

double nf4_bytes() {
  constexpr double kBits = 4 + 8.0 / 64 + 32.0 / (64 * 256);
  return kBits / 8;
}

FrozenBytes frozen_bytes(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  if (!plan.freezes()) { return {}; }
  const double element = sizes_of(plan).element;
  const ParameterShare all = layer_share(model, plan, layer);
  FrozenBytes bytes{all.dense * element, all.experts * element};
  if (!plan.quantizes_base()) { return bytes; }
  const double saved = element - nf4_bytes();
  for (const LayerMatrix& matrix : layer_matrices(model, plan, layer)) {
    (matrix.experts ? bytes.experts : bytes.dense) -= saved * matrix.elements();
  }
  return bytes;
}

FrozenBytes frozen_ends(double parameters, const ParallelPlan& plan) {
  return {plan.freezes() ? parameters * sizes_of(plan).element : 0, 0};
}

double dequantized_bytes(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer) {
  if (!plan.quantizes_base()) { return 0; }
  double most = 0;
  for (const LayerMatrix& matrix : layer_matrices(model, plan, layer)) {
    most = std::max(most, matrix.in * matrix.out * sizes_of(plan).element);
  }
  return most;
}

double trained_parameters(const TrainedModel& model, const ParallelPlan& plan) {
  if (!plan.freezes() || !model.transformer) { return parameters(model); }
  ParallelPlan alone;
  alone.lora = plan.lora;
  double sum = 0;
  for (std::uint32_t layer = 0; layer < model.transformer->layers; ++layer) {
    sum += trained_share(*model.transformer, alone, layer).total();
  }
  return sum;
}

namespace {

void check_targets(const Transformer& model, const ParallelPlan& plan, std::vector<std::string>& faults) {
  ParallelPlan whole = plan;  // adapters are those of whole matrices, whoever holds which part
  whole.tensor = whole.expert_tensor = 1;
  for (const LoraTarget target : plan.lora.targets.list()) {
    double least = 0;
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
      for (const LayerMatrix& matrix : layer_matrices(model, whole, layer)) {
        if (matrix.target != target) { continue; }
        const double side = std::min(matrix.in, matrix.out);
        least = least == 0 ? side : std::min(least, side);
      }
    }
    if (least == 0) {
      faults.push_back(fmt::format(
          "{} has no matrix \"{}\" that an adapter could stand beside{}", model.name, name(target),
          target == LoraTarget::gate
              ? ": its MLP is not gated"
              : ": its attention is latent, and takes \"output\" alone; an MLP takes \"gate\", \"up\" and \"down\""));
    } else if (plan.lora.rank >= least) {
      faults.push_back(
          fmt::format("adapters of rank {} beside \"{}\", whose shorter side has {:g} elements: "
                      "a rank is less than that",
                      plan.lora.rank, name(target), least));
    }
  }
}

}  // namespace

std::vector<std::string> contradictions_of_adapters(const Transformer& model, const ParallelPlan& plan) {
  std::vector<std::string> faults;
  if (!plan.freezes()) { return faults; }
  check_targets(model, plan, faults);
  if (plan.precision == Precision::fp8 || plan.precision == Precision::fp4) {
    faults.push_back(fmt::format("adapters are multiplied in 16 bits or more, not in {}", name(plan.precision)));
  }
  if (plan.autocast) {
    faults.emplace_back(
        "\"autocast\" keeps parameters in 4 bytes, and a frozen base is kept as it is multiplied: write \"autocast\": "
        "false");
  }
  if (model.next_token_layers > 0) {
    faults.emplace_back(
        "adapters are trained without the layers that predict further tokens: write \"next_token_layers\": 0");
  }
  return faults;
}

}  // namespace athanor
