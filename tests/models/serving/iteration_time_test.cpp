#include "models/serving/iteration_time.hpp"

#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "tests/models/serving/small_models.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

/// A GPU that does all it could: the roofline itself.
IterationParts perfect(ServedModel served) {
  IterationParts parts;
  parts.served = std::move(served);
  parts.gpu.flops[Precision::bf16] = 1e15;
  parts.gpu.memory_bandwidth = 4e12;
  parts.gpu.multiprocessors = 100;
  parts.compute.gemm = {1, 0};
  parts.compute.attention = 1;
  parts.compute.memory = 1;
  parts.streamed = 1;
  parts.compute.overhead = Time::zero();
  parts.call = [](CollectiveKind, Bytes) -> Time { throw std::logic_error("one GPU has nobody to call"); };
  return parts;
}

double matrices(const Transformer& model) {
  return parameters(model) - (2.0 * model.layers + 1) * model.hidden - 1.0 * model.vocabulary * model.hidden;
}

}  // namespace

TEST_CASE("a token alone takes what the weights take to be read, and little more") {
  const Transformer model = llama_8b();
  const IterationLaw law = iteration_law(perfect({model, 1}));
  const double read = 2 * matrices(model) / 4e12;  // with the matrix of logits, without the embedding
  const double all = seconds(law.of_tokens(1) + law.of_samples(1));
  CHECK(all > read);
  CHECK(all < read * 1.01);
}

TEST_CASE("many tokens take two operations for each weight of the layers, and what is element-wise") {
  const Transformer model = llama_8b();
  const IterationLaw law = iteration_law(perfect({model, 1}));
  const double tokens = 8192;
  const double layers = matrices(model) - 1.0 * model.vocabulary * model.hidden;
  const double products = 2 * layers * tokens / 1e15;
  const double all = seconds(law.of_tokens(8192));
  CHECK(all > products);
  CHECK(all < products * 1.25);
}

TEST_CASE("a token that decodes reads all that is kept of its request") {
  const ServedModel served{llama_70b(), 4};
  IterationParts parts = perfect(served);
  parts.call = [](CollectiveKind, Bytes) { return 10_us; };
  const IterationLaw law = iteration_law(parts);
  CHECK(law.per_attended == Time{std::llround(kept_bytes(served) / 4e12 * 1e12)});  // 81,920 B
  parts.compute.attention = 1e-4;
  const double flops = 4.0 * 80 * 16 * 128;  // two products with keys and values of 16 heads
  CHECK(iteration_law(parts).per_attended == Time{std::llround(flops / 1e11 * 1e12)});
}

TEST_CASE("chunks of a prompt attend to as many pairs as the whole, and longer ones lose less") {
  const ServedModel served{llama_8b(), 1};
  const double whole = chunk_attention(served, 0, 4096).flops;
  CHECK(whole == 2 * (4096.0 * 4097 / 2) * 32 * 32 * 256);
  double sum = 0;
  for (std::uint32_t past = 0; past < 4096; past += 512) { sum += chunk_attention(served, past, 512).flops; }
  CHECK(sum == whole);
  const IterationLaw law = iteration_law(perfect(served));
  CHECK(seconds(law.of_chunk(0, 4096)) == doctest::Approx(whole / 1e15));
}

TEST_CASE("all-reduces behind the embedding, attention and MLP are added, and logits are gathered") {
  const ServedModel served{llama_8b(), 2};
  IterationParts parts = perfect(served);
  std::set<std::int64_t> asked;
  parts.call = [&](CollectiveKind kind, Bytes size) {
    asked.insert(size.count());
    return kind == CollectiveKind::all_reduce ? Time{size.count()} : 1_s;
  };
  const IterationLaw with = iteration_law(parts);
  parts.call = [](CollectiveKind, Bytes) { return Time::zero(); };
  const IterationLaw without = iteration_law(parts);
  for (const std::uint32_t tokens : {1U, 7U, 8U, 9U, 100U, 1000U, 8191U, 8192U}) {
    CAPTURE(tokens);
    // A price in proportion to the size is interpolated exactly.
    CHECK(with.of_tokens(tokens) - without.of_tokens(tokens) == Time{8192} * tokens * (2 * 32 + 1));
  }
  CHECK(with.of_samples(3) - without.of_samples(3) == 1_s);
  CHECK(with.of_samples(0) == Time::zero());
  for (const std::int64_t size : asked) { CHECK((size % 8192 == 0 || size % (2 * 128'256) == 0)); }
}

TEST_CASE("the grid has all numbers up to 8, then four to each doubling") {
  std::set<std::uint32_t> points;
  for (std::uint32_t n = 1; n <= 5000; ++n) {
    const auto [below, above] = grid_place(n);
    CHECK(below <= n);
    CHECK(above >= n);
    CHECK(grid_place(below).above == below);
    CHECK(grid_place(above).below == above);
    points.insert(below);
  }
  const std::set<std::uint32_t> first{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32};
  CHECK(std::set<std::uint32_t>(points.begin(), points.upper_bound(32)) == first);
}

TEST_CASE("the overhead of an iteration is added once") {
  IterationParts parts = perfect({llama_8b(), 1});
  const IterationLaw without = iteration_law(parts);
  parts.overhead = 3_ms;
  CHECK(iteration_law(parts).of_tokens(5) - without.of_tokens(5) == 3_ms);
  parts.compute.waves = 1;  // no wave of tiles is left empty
  CHECK(iteration_law(parts).of_tokens(5) == without.of_tokens(5) + 3_ms);
}

TEST_CASE("tokens choose as many experts together as all choices have on average") {
  for (const std::uint32_t all : {2U, 3U, 4U}) {
    Experts experts;
    experts.experts = all;
    for (std::uint32_t tokens = 1; tokens <= 4; ++tokens) {
      // Each token chooses one: all^tokens ways.
      std::uint32_t ways = 1;
      for (std::uint32_t i = 0; i < tokens; ++i) { ways *= all; }
      double sum = 0;
      for (std::uint32_t way = 0; way < ways; ++way) {
        std::set<std::uint32_t> chosen;
        for (std::uint32_t i = 0, rest = way; i < tokens; ++i, rest /= all) { chosen.insert(rest % all); }
        sum += static_cast<double>(chosen.size()) / ways;
      }
      CHECK(chosen_experts(experts, tokens) == doctest::Approx(sum));
    }
  }
  const Experts many{.experts = 256, .chosen = 8, .ffn = 1, .layers = {}};
  CHECK(chosen_experts(many, 1) == doctest::Approx(8));
  CHECK(chosen_experts(many, 10'000) == doctest::Approx(256));
}

TEST_CASE("a token alone reads the experts that it chose, and many read all") {
  const Transformer model = deepseek_v3();
  IterationParts parts = perfect({model, 1});
  const IterationLaw law = iteration_law(parts);
  const double expert = 3.0 * 7168 * 2048;
  const double all = parameters(model) - 2.0 * model.vocabulary * model.hidden;  // of layers
  const auto read = [&](double chosen) { return 2 * (all - 58 * (256 - chosen) * expert) / 4e12; };
  CHECK(seconds(law.of_tokens(1)) == doctest::Approx(read(8)).epsilon(0.01));
  CHECK(seconds(law.of_tokens(16)) == doctest::Approx(read(chosen_experts(*model.experts, 16))).epsilon(0.01));
  CHECK(read(chosen_experts(*model.experts, 16)) > 5 * read(8));
}

TEST_CASE("latent attention reads what heads share where it decodes, and has keys and values where it prefills") {
  for (const std::uint32_t tensor : {1U, 8U}) {
    const ServedModel served{deepseek_v3(), tensor};
    const double heads = 61.0 * 128 / tensor;
    CHECK(decode_attention(served, 1000).bytes == 1000.0 * 70'272);
    CHECK(decode_attention(served, 1000).flops == 2 * 1000 * heads * (512 + 64 + 512));
    CHECK(chunk_attention(served, 0, 4096).flops == 2 * (4096.0 * 4097 / 2) * heads * (128 + 64 + 128));
    const double again = chunk_attention(served, 4096, 1).flops - 2 * 4097 * heads * (128 + 64 + 128);
    CHECK(again == 2 * 4096 * heads * 512 * (128 + 128));  // those before are made once more
  }
}
