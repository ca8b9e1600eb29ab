#include <algorithm>
#include <string_view>

#include <doctest/doctest.h>

#include "models/training/element_wise.hpp"
#include "models/training/memory.hpp"
#include "tests/models/training/small_models.hpp"

using namespace athanor;

namespace {

ParallelPlan plan_of(ExecutionMode execution, bool autocast = false) {
  ParallelPlan plan;
  plan.execution = execution;
  plan.autocast = autocast;
  plan.sequence = 256;
  return plan;
}

/// All kernels of a layer and micro-batch.
Kernels layer(const Transformer& model, const ParallelPlan& plan) {
  const LayerWork work = layer_work(model, plan, 0);
  Kernels all;
  for (const PhasedKernels* part :
       {&work.before_attention, &work.attention, &work.before_mlp, &work.mlp, &work.after_mlp}) {
    for (const Kernels* phase : {&part->forward, &part->backward_input, &part->backward_weight}) {
      all.insert(all.end(), phase->begin(), phase->end());
    }
  }
  return all;
}

template <class Figure>
double sum_of(const Kernels& kernels, std::string_view label, Figure figure) {
  double sum = 0;
  for (const Kernel& kernel : kernels) { sum += label.empty() || kernel.label == label ? kernel.*figure : 0; }
  return sum;
}

double elements_of_matrices(const Transformer& model) {
  const double h = model.hidden;
  return 4 * h * h + (model.gated ? 3 : 2) * h * model.ffn;
}

}  // namespace

TEST_CASE("fused kernels are one launch each, and compilers fuse as much") {
  for (const Transformer& model : {gpt(2, 512, 8), llama(2, 512, 8)}) {
    const Kernels fused = layer(model, plan_of(ExecutionMode::fused));
    CHECK(sum_of(fused, "", &Kernel::launches) == fused.size());
    for (const ExecutionMode same : {ExecutionMode::compiled, ExecutionMode::cuda_graphs}) {
      const Kernels other = layer(model, plan_of(same));
      CHECK(sum_of(other, "", &Kernel::bytes) == sum_of(fused, "", &Kernel::bytes));
      CHECK(sum_of(other, "", &Kernel::launches) == fused.size());
    }
  }
}

TEST_CASE("eager operators are more kernels and move more bytes, and multiply the same") {
  for (const Transformer& model : {gpt(2, 512, 8), llama(2, 512, 8)}) {
    const Kernels fused = layer(model, plan_of(ExecutionMode::fused));
    const Kernels eager = layer(model, plan_of(ExecutionMode::eager));
    const Kernels cast = layer(model, plan_of(ExecutionMode::eager, true));
    CHECK(sum_of(eager, "", &Kernel::launches) > sum_of(fused, "", &Kernel::launches));
    CHECK(sum_of(cast, "", &Kernel::launches) > sum_of(eager, "", &Kernel::launches));
    CHECK(sum_of(eager, "", &Kernel::bytes) > sum_of(fused, "", &Kernel::bytes));
    CHECK(sum_of(eager, "", &Kernel::flops) == sum_of(fused, "", &Kernel::flops));
  }
}

TEST_CASE("a layer of GPT under autocast is 61 kernels in eager PyTorch") {
  // Forward: two norms of 3, four products with a cast of weights and one of biases each, attention, GELU, two sums:
  // 22; backward: two norms of 4, four times two products, a sum of biases and two casts, attention, GELU, two sums and
  // what puts the gradients of queries, keys and values together: 33 launches.
  CHECK(sum_of(layer(gpt(2, 512, 8), plan_of(ExecutionMode::eager, true)), "", &Kernel::launches) == 22 + 33);
}

TEST_CASE("autocast computes norms in fp32: 20 bytes an element forward and 32 backward, where 4 and 6 do") {
  const auto sizes = [](ExecutionMode execution, bool autocast) { return sizes_of(plan_of(execution, autocast)); };
  const ElementCost eager = norm_cost(sizes(ExecutionMode::eager, true));
  CHECK(eager.forward_bytes == (2 + 4) + (4 + 4) + (4 + 2));
  CHECK(eager.backward_bytes == (2 + 4) + 3 * 4 + 2 * 4 + (4 + 2));
  for (const bool autocast : {false, true}) {
    const ElementCost fused = norm_cost(sizes(ExecutionMode::compiled, autocast));
    CHECK(fused.forward_bytes == 4);
    CHECK(fused.backward_bytes == 6);
  }
}

TEST_CASE("autocast moves 6 bytes a weight forward, 6 backward, and 12 more behind the first micro-batch") {
  for (const Transformer& model : {gpt(2, 512, 8), llama(2, 512, 8)}) {
    const double weights = elements_of_matrices(model);
    for (const std::uint32_t micro_batches : {1U, 2U, 5U}) {
      CAPTURE(micro_batches);
      ParallelPlan plan = plan_of(ExecutionMode::compiled, true);
      plan.global_batch = micro_batches;
      const Kernels kernels = layer(model, plan);
      CHECK(sum_of(kernels, "cast of weights", &Kernel::bytes) == 6 * weights);
      CHECK(sum_of(kernels, "cast of gradients", &Kernel::bytes) == 6 * weights);
      const double all = micro_batches * sum_of(kernels, "sum of gradients", &Kernel::bytes);
      CHECK(all == doctest::Approx(12 * weights * (micro_batches - 1)));
    }
  }
}

TEST_CASE("where 16 bits are not asked for, autocast does nothing") {
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp8}) {
    ParallelPlan plan = plan_of(ExecutionMode::eager, true);
    plan.precision = precision;
    ParallelPlan without = plan;
    without.autocast = false;
    const Transformer model = llama(2, 512, 8);
    CHECK(sum_of(layer(model, plan), "", &Kernel::bytes) == sum_of(layer(model, without), "", &Kernel::bytes));
  }
}

TEST_CASE("parameters that autocast casts are their own master copies: 18 bytes with gradients of 4, as without") {
  const Transformer model = gpt(2, 512, 8);
  const StageLoad whole{.layers = {0, 1}, .embedding = true, .output = true};
  const auto states = [&](bool autocast) {
    const MemoryUse use = memory_of(model, plan_of(ExecutionMode::eager, autocast), whole);
    return use.parameters + use.gradients + use.optimizer;
  };
  CHECK(states(true) == states(false));
  const Kernels casts = optimizer_work(1000, 1000, plan_of(ExecutionMode::eager, true));
  CHECK(sum_of(casts, "optimizer", &Kernel::bytes) == 28 * 1000);
  CHECK(sum_of(casts, "zero gradients", &Kernel::bytes) == 0);
}
