#include "models/serving/served_model.hpp"

#include <doctest/doctest.h>

#include "tests/models/serving/small_models.hpp"

using namespace athanor;
using namespace athanor::testing;

TEST_CASE("a GPU keeps 2 x layers x its KV heads x head size x bytes of each token") {
  ServedModel served{llama_70b(), 1};
  CHECK(kept_bytes(served) == 2 * 80 * 8 * 128 * 2);
  served.tensor = 4;
  CHECK(kept_bytes(served) == 2 * 80 * 2 * 128 * 2);
  served.tensor = 16;  // more GPUs than KV heads: two have the same one
  CHECK(kept_bytes(served) == 2 * 80 * 1 * 128 * 2);
  served.kv_precision = Precision::fp8;
  CHECK(kept_bytes(served) == 2 * 80 * 1 * 128);
}

TEST_CASE("weights are all parameters in their precision, and what is on every GPU is small") {
  const Transformer model = llama_8b();
  ServedModel served{model, 1};
  CHECK(weight_bytes(served) == 2 * parameters(model));
  served.precision = Precision::fp8;
  const double embeddings = 2.0 * model.vocabulary * model.hidden;
  const double norms = (2.0 * model.layers + 1) * model.hidden;
  const double matrices = parameters(model) - embeddings - norms;
  CHECK(weight_bytes(served) == matrices + 2 * (embeddings + norms));
  served.tensor = 8;
  CHECK(weight_bytes(served) == (matrices + 2 * embeddings) / 8 + 2 * norms);
}

TEST_CASE("pages fill what weights leave of a share of the memory") {
  const ServedModel served{llama_8b(), 1};
  GpuRates gpu;
  gpu.memory = 40e9;
  const double page = 16 * kept_bytes(served);
  const auto pages = pages_that_fit(served, gpu, 0.9, 16);
  CHECK(static_cast<double>(pages) * page <= 36e9 - weight_bytes(served));
  CHECK(static_cast<double>(pages + 1) * page > 36e9 - weight_bytes(served));
  gpu.memory = weight_bytes(served);
  CHECK(pages_that_fit(served, gpu, 0.9, 16) == 0);
}

TEST_CASE("what is not simulated of a model is said") {
  ServedModel served{llama_8b(), 1};
  CHECK(obstacles(served).empty());
  served.tensor = 3;
  CHECK_FALSE(obstacles(served).empty());
  served.tensor = 1;
  Transformer& model = served.model;
  model.experts = Experts{.experts = 8, .chosen = 2, .ffn = 100, .layers = std::vector<bool>(32, true)};
  CHECK(obstacles(served).empty());
  served.tensor = 8;  // 100 elements of an expert
  CHECK(obstacles(served).size() == 1);
  served.tensor = 1;
  model.experts.reset();
  model.attention.window = 4096;
  CHECK(obstacles(served).size() == 1);
  model.attention.window = 0;
  model.attention.causal = false;
  CHECK(obstacles(served).size() == 1);
}

TEST_CASE("of latent attention every GPU keeps what heads share: 70,272 bytes of a token of DeepSeek-V3") {
  for (const std::uint32_t tensor : {1U, 8U, 16U}) {
    CHECK(obstacles({deepseek_v3(), tensor}).empty());
    CHECK(kept_bytes({deepseek_v3(), tensor}) == 61 * (512 + 64) * 2);
    CHECK(kept_bytes({deepseek_v3(), tensor, Precision::fp8, Precision::fp8}) == 61 * (512 + 64));
  }
}

TEST_CASE("of experts every GPU has its part of each") {
  const Transformer model = deepseek_v3();
  ServedModel served{model, 1};
  CHECK(weight_bytes(served) == 2 * parameters(model));
  const double experts = 58.0 * 256 * 3 * 7168 * 2048;
  served.precision = Precision::fp8;
  const double wide = 2 * parameters(model) - weight_bytes(served);  // a byte less of what is narrow
  CHECK(wide > experts);
  served.tensor = 8;
  CHECK(weight_bytes(served) > 0.98 * parameters(model) / 8);
  CHECK(weight_bytes(served) < 1.08 * parameters(model) / 8);
}
