#include "models/training/architecture.hpp"

#include <doctest/doctest.h>

#include "tests/models/training/small_models.hpp"

using namespace athanor;

TEST_CASE("a layer of GPT has 12 h^2 + 13 h parameters, and the model those of its formula") {
  for (const std::uint32_t hidden : {64U, 768U, 4096U}) {
    for (const std::uint32_t layers : {1U, 5U, 24U}) {
      CAPTURE(hidden);
      const Transformer model = gpt(layers, hidden, hidden / 64);
      const double h = hidden;
      CHECK(layer_parameters(model, 0).total() == 12 * h * h + 13 * h);
      // Narayanan et al., SC 2021, section 2: P = 12 l h^2 (1 + 13 / 12 h + (V + s) / 12 l h); the last norm's 2 h
      // are left out there.
      const double vocabulary = model.vocabulary;
      CHECK(parameters(model) == layers * (12 * h * h + 13 * h) + (vocabulary + model.positions) * h + 2 * h);
    }
  }
}

TEST_CASE("heads that share keys and values save those parameters, and a gated MLP has three matrices") {
  Transformer model = llama(4, 1024, 16);
  const double h = 1024;
  const double ffn = model.ffn;
  CHECK(layer_parameters(model, 0).total() == 4 * h * h + 3 * h * ffn + 2 * h);
  model.attention.kv_heads = 4;
  CHECK(layer_parameters(model, 0).total() == 2 * h * h + 2 * h * h / 4 + 3 * h * ffn + 2 * h);
  CHECK(layer_parameters(model, 0).keys == 2 * h * h / 4);
  model.gated = false;
  CHECK(layer_parameters(model, 0).total() == 2 * h * h + 2 * h * h / 4 + 2 * h * ffn + 2 * h);
}

TEST_CASE("a token goes through its chosen and shared experts alone") {
  for (const std::uint32_t experts : {1U, 4U, 8U}) {
    for (std::uint32_t chosen = 1; chosen <= experts; ++chosen) {
      CAPTURE(experts);
      CAPTURE(chosen);
      const Transformer model = with_experts(llama(3, 512, 8), experts, chosen, 256, 1);
      const double expert = 3 * 512.0 * 256;
      const double idle = 2 * (experts - chosen) * expert;  // the first of the three layers has an MLP
      CHECK(active_parameters(model) == parameters(model) - idle);
      CHECK(layer_parameters(model, 1).experts == experts * expert);
      CHECK(layer_parameters(model, 0).experts == 0);
    }
  }
}

TEST_CASE("latent attention has the projections into what is compressed and out of it") {
  Transformer model = llama(2, 1024, 8);
  model.attention = {.kind = Attention::Kind::latent,
                     .heads = 8,
                     .head_size = 64,
                     .value_size = 48,
                     .rotary_size = 32,
                     .query_rank = 384,
                     .kv_rank = 128};
  REQUIRE(contradictions(model).empty());
  const double queries = 1024.0 * 384 + 384 + 384.0 * 8 * (64 + 32);
  const double keys = 1024.0 * (128 + 32) + 128 + 128.0 * 8 * (64 + 48);
  const double output = 8 * 48 * 1024.0;
  CHECK(layer_parameters(model, 0).total() == queries + keys + output + 3 * 1024.0 * model.ffn + 2 * 1024);
  model.attention.query_rank = 0;
  const double direct = 1024.0 * 8 * (64 + 32);
  CHECK(layer_parameters(model, 0).total() == direct + keys + output + 3 * 1024.0 * model.ffn + 2 * 1024);
}

TEST_CASE("a layer of the next token adds a projection of two vectors and three norms to a layer") {
  const Transformer model = llama(4, 256, 4);
  CHECK(next_token_parameters(model).total() == layer_parameters(model, 3).total() + 2 * 256.0 * 256 + 3 * 256);
}

TEST_CASE("windows hold for all layers but the last of each group") {
  Transformer model = llama(6, 256, 4);
  model.attention.window = 128;
  CHECK(window_of(model, 5) == 128);
  model.attention.full_every = 3;
  for (std::uint32_t layer = 0; layer < 6; ++layer) { CHECK(window_of(model, layer) == (layer % 3 == 2 ? 0U : 128U)); }
}

TEST_CASE("contradictions are told one by one") {
  Transformer model = with_experts(llama(4, 256, 8), 4, 2, 64, 0);
  CHECK(contradictions(model).empty());
  model.attention.kv_heads = 3;
  model.experts->chosen = 5;
  model.experts->layers.pop_back();
  model.attention.full_every = 2;
  CHECK(contradictions(model).size() == 4);
  model = llama(4, 256, 8);
  model.attention.kv_rank = 16;
  CHECK(contradictions(model).size() == 1);
  model = llama(4, 256, 8);
  model.attention.kind = Attention::Kind::latent;
  CHECK(contradictions(model).size() == 2);
  model = llama(4, 256, 8);
  model.ffn = 0;
  CHECK(contradictions(model).size() == 1);
}

TEST_CASE("a plan that a model cannot be spread by says why") {
  Transformer model = llama(4, 256, 8);
  model.attention.kv_heads = 2;
  const auto faults = [&](const ParallelPlan& plan) { return contradictions(model, plan).size(); };
  CHECK(faults({}) == 0);
  CHECK(faults({.tensor = 4}) == 0);  // two ranks share a head of keys
  CHECK(faults({.tensor = 3}) == 2);  // heads, and those of keys
  CHECK(faults({.tensor = 16}) == 1);
  CHECK(faults({.context = 3, .sequence = 2048}) == 1);
  CHECK(faults({.tensor = 4, .context = 2, .sequence = 12, .sequence_parallel = true}) == 1);
  CHECK(faults({.expert = 2}) == 1);
  CHECK(faults({.context = 2, .fused_attention = false}) == 1);
  model = with_experts(model, 8, 2, 64, 0);
  CHECK(faults({.data = 4, .expert = 4}) == 0);
  CHECK(faults({.data = 4, .expert = 3}) == 2);
  CHECK(faults({.tensor = 2, .data = 4, .expert = 4}) == 1);
  CHECK(faults({.tensor = 2, .data = 4, .expert = 4, .sequence_parallel = true}) == 0);
  CHECK(faults({.tensor = 2, .data = 4, .expert_tensor = 2}) == 0);
  CHECK(faults({.tensor = 4, .data = 4, .expert_tensor = 2, .sequence_parallel = true}) == 1);
}
