#include "models/training/parameter_share.hpp"

#include <doctest/doctest.h>

#include "tests/models/training/small_models.hpp"

using namespace athanor;

TEST_CASE("ranks together hold each parameter as often as it has replicas, but for what every tensor rank has") {
  Transformer model = with_experts(llama(3, 512, 8), 8, 2, 256, 1);
  model.attention.kv_heads = 4;
  for (const std::uint32_t tensor : {1U, 2U, 4U}) {
    for (const std::uint32_t expert : {1U, 2U, 8U}) {
      CAPTURE(tensor);
      CAPTURE(expert);
      ParallelPlan plan;
      plan.tensor = tensor;
      plan.context = 2;
      plan.data = 8;
      plan.expert = expert;
      plan.sequence_parallel = true;
      REQUIRE(contradictions(model, plan).empty());
      const double ranks = tensor * 2.0 * 8;
      for (std::uint32_t layer = 0; layer < 4; ++layer) {
        const LayerParameters all = layer < 3 ? layer_parameters(model, layer) : next_token_parameters(model);
        const ParameterShare share = layer_share(model, plan, layer);
        CHECK(share.dense * ranks == (all.split + all.keys + all.whole * tensor) * dense_replicas(plan));
        CHECK(share.experts * ranks == all.experts * expert_replicas(plan));
      }
    }
  }
}

TEST_CASE("tensor ranks beyond the heads of keys hold copies of them") {
  Transformer model = llama(1, 512, 8);
  model.attention.kv_heads = 2;
  ParallelPlan plan;
  plan.tensor = 8;
  const LayerParameters all = layer_parameters(model, 0);
  CHECK(layer_share(model, plan, 0).dense == all.split / 8 + all.keys / 2 + all.whole);
}

TEST_CASE("a vocabulary is split over tensor ranks, and a tied output is held again by another stage alone") {
  Transformer model = gpt(2, 512, 8);
  ParallelPlan plan;
  plan.tensor = 4;
  const double matrix = 51200.0 * 512 / 4;
  CHECK(embedding_share(model, plan) == matrix + 2048.0 * 512);
  CHECK(output_share(model, plan, false) == 2 * 512);
  CHECK(output_share(model, plan, true) == matrix + 2 * 512);
  model.tied = false;
  CHECK(output_share(model, plan, false) == matrix + 2 * 512);
}
