#include <string_view>

#include <doctest/doctest.h>

#include "models/training/memory.hpp"
#include "models/training/step/layer_pieces.hpp"
#include "models/training/work_parts.hpp"
#include "tests/models/training/small_models.hpp"

using namespace athanor;

namespace {

constexpr std::array kRecipes{Fp8Recipe::delayed, Fp8Recipe::current, Fp8Recipe::blockwise, Fp8Recipe::mxfp8};

ParallelPlan fp8(Fp8Recipe recipe, bool any_order) {
  ParallelPlan plan;
  plan.precision = Precision::fp8;
  plan.fp8_recipe = recipe;
  plan.any_order = any_order;
  plan.sequence = 256;
  return plan;
}

/// Bytes that one element is cast with, of what a linear layer multiplies.
double bytes_of_cast(const ParallelPlan& plan) {
  PhasedKernels work;
  add_linear({.label = "layer", .tokens = 256, .in = 512, .out = 512}, sizes_of(plan), work);
  CHECK(work.forward.front().label == std::string_view("cast"));
  return work.forward.front().bytes / (256.0 * 512);
}

std::size_t gathers(const ParallelPlan& plan) {
  const Transformer model = llama(2, 512, 8);
  const GpuRates gpu{.flops = {{Precision::bf16, 1e15}, {Precision::fp8, 2e15}}, .memory_bandwidth = 1e12};
  const ComputeProfile profile;
  const LayerPieces pieces =
      LayerAssembly(model, plan, gpu, profile).layer(layer_work(model, plan, 0), false, false, 0);
  std::size_t count = 0;
  for (const WorkPiece& piece : pieces.backward) { count += piece.label == "all-gather" ? 1 : 0; }
  return count;
}

}  // namespace

TEST_CASE("a cast reads 16 bits and writes fp8 for both directions, unless GPUs multiply what lies in any order") {
  CHECK(bytes_of_cast(fp8(Fp8Recipe::delayed, false)) == 2 + 1 + 1);
  CHECK(bytes_of_cast(fp8(Fp8Recipe::delayed, true)) == 2 + 1);
  CHECK(bytes_of_cast(fp8(Fp8Recipe::current, false)) == 2 + 2 + 1 + 1);
  CHECK(bytes_of_cast(fp8(Fp8Recipe::current, true)) == 2 + 2 + 1);
  for (const bool any_order : {false, true}) {
    CHECK(bytes_of_cast(fp8(Fp8Recipe::mxfp8, any_order)) == 2 + 2 * (1 + 1.0 / 32));
    CHECK(bytes_of_cast(fp8(Fp8Recipe::blockwise, any_order)) == 2 + 2 * (1 + 4.0 / 128));
  }
}

TEST_CASE("of what tensor ranks gather each casts its part; a whole tensor's is transposed behind that") {
  const auto bytes = [](Fp8Recipe recipe, bool any_order) {
    ParallelPlan plan = fp8(recipe, any_order);
    plan.tensor = 4;
    plan.sequence_parallel = true;
    PhasedKernels work;
    add_linear({.label = "layer", .tokens = 256, .in = 512, .out = 128, .gathers_in = true}, sizes_of(plan), work);
    return work.forward.front().bytes / (256.0 * 512);
  };
  CHECK(bytes(Fp8Recipe::delayed, false) == (2 + 1) / 4.0 + 1 + 1);
  CHECK(bytes(Fp8Recipe::delayed, true) == (2 + 1) / 4.0);
  CHECK(bytes(Fp8Recipe::current, true) == (2 + 2 + 1) / 4.0);
  CHECK(bytes(Fp8Recipe::mxfp8, true) == (2 + 2 * (1 + 1.0 / 32)) / 4.0);
}

TEST_CASE("what is cast in blocks is gathered once more for the gradients of weights") {
  for (const Fp8Recipe recipe : kRecipes) {
    ParallelPlan plan = fp8(recipe, true);
    plan.tensor = 4;
    plan.sequence_parallel = true;
    constexpr std::size_t kBlocks = 2;  // attention and MLP: gradients of what went out, and what came in
    CHECK(gathers(plan) == (has_blocks(recipe) ? 3 : 2) * kBlocks);
  }
}

TEST_CASE("casts of parameters are kept in both directions, with a 32nd of scales, where one does not do for both") {
  const Transformer model = llama(2, 512, 8);
  const StageLoad stage{.layers = {0, 1}};
  const auto of = [&](Fp8Recipe recipe, bool any_order) {
    return memory_of(model, fp8(recipe, any_order), stage).parameters;
  };
  const double parameters = (of(Fp8Recipe::delayed, false) - of(Fp8Recipe::delayed, true));  // one byte each
  CHECK(parameters > 0);
  CHECK(of(Fp8Recipe::delayed, true) == (2 + 1) * parameters);
  CHECK(of(Fp8Recipe::current, true) == of(Fp8Recipe::delayed, true));
  CHECK(of(Fp8Recipe::mxfp8, true) == doctest::Approx((2 + 2 * (1 + 1.0 / 32)) * parameters));
}

TEST_CASE("recipes are of fp8 alone") {
  for (const Fp8Recipe recipe : kRecipes) {
    ParallelPlan plan = fp8(recipe, false);
    plan.precision = Precision::bf16;
    CHECK(plan.narrow_bytes() == 2);
    plan.precision = Precision::fp4;
    CHECK(plan.narrow_bytes() == 0.5);
    CHECK(plan.cast_bytes() == 1);
  }
}
