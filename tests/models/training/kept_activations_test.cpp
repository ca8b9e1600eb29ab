// What layers keep where parts of them are computed again or wait in the host's memory.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/training/memory.hpp"
#include "tests/models/training/small_models.hpp"

using namespace athanor;

namespace {

StageLoad all_of(const Transformer& model) {
  StageLoad load;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) { load.layers.push_back(layer); }
  load.embedding = load.output = true;
  return load;
}

bool near(double a, double b) { return a == doctest::Approx(b).epsilon(1e-12); }

/// Bytes that a layer keeps less of each token where these are computed again.
double saved(const Transformer& model, ParallelPlan plan, const std::vector<RecomputeModule>& modules) {
  const double all = layer_activations(model, plan, 0);
  plan.recompute = Recompute::selective;
  plan.recompute_modules = RecomputeModules(modules);
  return (all - layer_activations(model, plan, 0)) / (plan.micro_batch * plan.sequence);
}

using Module = RecomputeModule;

}  // namespace

TEST_CASE("modules of a dense layer that are computed again keep what comes in alone") {
  const Transformer model = llama(1, 1024, 16);  // an MLP of 3072
  for (const std::uint32_t tensor : {1U, 4U}) {
    CAPTURE(tensor);
    ParallelPlan plan;
    plan.tensor = tensor;
    plan.sequence_parallel = tensor > 1;
    const double t = tensor;
    CHECK(near(saved(model, plan, {Module::core_attn}), 4 * 16 / t));        // sums of softmax
    CHECK(near(saved(model, plan, {Module::layernorm}), 2 * 2 * 1024 / t));  // what two norms give
    CHECK(near(saved(model, plan, {Module::mlp}), 3 * 2 * 3072 / t));        // two halves and their product
    CHECK(near(saved(model, plan, {Module::layernorm, Module::mlp}), (4 * 1024 + 6 * 3072) / t));
    plan.precision = Precision::fp8;  // what products read has a byte, but what a module is computed from
    CHECK(near(saved(model, plan, {Module::layernorm}), 2 * 1024 / t));
    CHECK(near(saved(model, plan, {Module::mlp}), (5 * 3072 - 1024) / t));
  }
}

TEST_CASE("modules of experts that are computed again keep what comes in alone") {
  Transformer model = with_experts(llama(1, 1024, 16), 8, 2, 512, 0);
  model.experts->shared_ffn = 256;
  const ParallelPlan plan;
  CHECK(near(saved(model, plan, {Module::moe_act}), 2 * 2 * 512));  // of two experts
  CHECK(near(saved(model, plan, {Module::shared_experts}), 2 * 1024 + 6 * 256));
  // Of each of two experts: what comes in, two halves, their product, what goes out; scores; the shared expert.
  const double routed = 2 * (2 * 1024 + 6 * 512 + 2 * 1024) + 4 * 8;
  CHECK(near(saved(model, plan, {Module::moe}), routed + 2 * 1024 + 6 * 256));
  CHECK(near(saved(model, plan, {Module::moe, Module::moe_act}), saved(model, plan, {Module::moe})));
  CHECK(near(saved(model, plan, {Module::layernorm}), 3 * 2 * 1024));  // of attention, router, shared expert
  CHECK(saved(model, plan, {Module::mlp}) == 0);                       // no layer has one
}

TEST_CASE("latent attention that is expanded again keeps compressed vectors and the key that heads share") {
  Transformer model = llama(1, 512, 8);
  model.attention = {.kind = Attention::Kind::latent,
                     .heads = 8,
                     .head_size = 64,
                     .value_size = 32,
                     .rotary_size = 16,
                     .query_rank = 128,
                     .kv_rank = 96};
  const ParallelPlan plan;
  // Queries, keys and values of 8 heads, and what the norms of compressed vectors give, but for the shared key.
  CHECK(near(saved(model, plan, {Module::mla_up_proj}), 2 * (8 * (80 + 80 + 32) + 128 + 96 - 16)));
}

TEST_CASE("beside what is kept there is the module that is just computed again, not all of them") {
  const Transformer model = llama(2, 1024, 16);
  ParallelPlan plan;
  plan.recompute = Recompute::selective;
  plan.recompute_modules = RecomputeModules({Module::layernorm, Module::mlp});
  CHECK(near(memory_of(model, plan, all_of(model)).buffers, 6.0 * 3072 * 2048));
  CHECK(text_of(plan.recompute_modules) == "layernorm+mlp");
  CHECK(recompute_text(plan) == "selective: layernorm+mlp");
}

TEST_CASE("modules that a model has not are refused by name") {
  const auto reasons = [](const Transformer& model, Module module) {
    ParallelPlan plan;
    plan.recompute = Recompute::selective;
    plan.recompute_modules = RecomputeModules({module});
    return contradictions(model, plan);
  };
  Transformer dense = llama(2, 512, 8);
  dense.name = "Small";
  for (const Module module : {Module::moe_act, Module::moe, Module::shared_experts, Module::mla_up_proj}) {
    REQUIRE(reasons(dense, module).size() == 1);
    CHECK(reasons(dense, module)[0].find(fmt::format("recomputing {} needs ", name(module))) == 0);
    CHECK(reasons(dense, module)[0].find("which Small has not") != std::string::npos);
  }
  for (const Module module : {Module::core_attn, Module::layernorm, Module::mlp}) {
    CHECK(reasons(dense, module).empty());
  }
  CHECK(reasons(with_experts(dense, 4, 1, 256, 0), Module::mlp).size() == 1);
  CHECK(reasons(with_experts(dense, 4, 1, 256, 1), Module::mlp).empty());
  CHECK(reasons(with_experts(dense, 4, 1, 256, 0), Module::shared_experts).size() == 1);
}

TEST_CASE("offloaded layers keep nothing but the one that is on its way") {
  const Transformer model = llama(4, 1024, 16);
  ParallelPlan plan;
  const double whole = layer_activations(model, plan, 0);
  StageLoad load = all_of(model);
  load.output = false;
  load.in_flight = 3;
  for (const std::uint32_t away : {0U, 1U, 3U, 4U, 9U}) {
    CAPTURE(away);
    plan.offload_layers = away;
    const MemoryUse use = memory_of(model, plan, load);
    CHECK(near(use.activations, 3 * whole * (4 - std::min(away, 4U))));
    CHECK(near(use.buffers, away > 0 ? whole : 0));
  }
  load.in_chunk = {0, 1, 0, 1};  // two chunks, of each the first layer
  plan.offload_layers = 1;
  CHECK(near(memory_of(model, plan, load).activations, 3 * whole * 2));
  plan.offload_layers = 0;
  plan.recompute = Recompute::full;
  plan.recompute_layers = 1;
  CHECK(near(memory_of(model, plan, load).activations, 3 * (2 * whole + 2 * 2.0 * 1024 * 2048)));
}
