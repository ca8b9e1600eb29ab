// What compression keeps on each GPU, by hand.
#include "models/training/compression/compression_memory.hpp"

#include <doctest/doctest.h>

#include "models/training/memory.hpp"

using namespace athanor;

namespace {

constexpr double kNumbers = 80'000;

/// Two layers, each a matrix of 200 x 400, on four ranks that add gradients up when all are there.
MemoryUse memory_with(const Compression& compression, Sharding sharding = Sharding::none, bool overlap = false) {
  TrainedModel model;
  model.layers.assign(2, {.name = "layer", .parameters = kNumbers, .forward_flops = 1, .output = 1, .rows = 200});
  ParallelPlan plan;
  plan.data = plan.global_batch = 4;
  plan.sharding = sharding;
  plan.overlap_gradients = overlap;
  plan.bucket = Bytes{40'000};
  plan.compression = compression;
  return memory_of_layers(model, plan);
}

Compression of_kind(CompressionKind kind) {
  Compression compression;
  compression.kind = kind;
  return compression;
}

}  // namespace

TEST_CASE("without compression, and of one copy, nothing is kept for it") {
  CHECK(memory_with({}).compression == 0);
  CHECK(kept_for_coding(of_kind(CompressionKind::int8), {1000}, {.ranks = 4}) == 0);
}

TEST_CASE("nothing but its own part of the memory grows") {
  const MemoryUse plain = memory_with({});
  const MemoryUse use = memory_with(of_kind(CompressionKind::one_bit_adam));
  CHECK(use.total() - use.compression == plain.total());
}

TEST_CASE("what was not sent is as large as gradients, and of one-bit Adam once more of a rank's part") {
  Compression sparse = of_kind(CompressionKind::top_k);
  CHECK(kept_for_coding(sparse, {1000}, {.ranks = 4}) == 4000);
  CHECK(kept_for_coding(sparse, {1000}, {.ranks = 4, .gradient_bytes = 2}) == 2000);
  sparse.error_feedback = false;
  CHECK(kept_for_coding(sparse, {1000}, {.ranks = 4}) == 0);
  CHECK(kept_for_coding(of_kind(CompressionKind::one_bit_adam), {1000}, {.ranks = 4}) == 4000 + 1000);
}

TEST_CASE("PowerSGD keeps both factors and the matrices' errors, of vectors nothing") {
  Compression compression = of_kind(CompressionKind::power_sgd);
  compression.rank = 4;
  // Copies of matrices while all are summed up, too.
  const double factors = 4.0 * 2 * 4 * 600;
  CHECK(memory_with(compression).compression == factors + 4 * 2 * kNumbers + 4 * 2 * kNumbers);
  compression.error_feedback = false;
  CHECK(memory_with(compression).compression == factors);
}

TEST_CASE("coded gradients take room twice, sent and received, of a bucket or of all") {
  Compression compression = of_kind(CompressionKind::fp8);
  compression.block = 8;  // 1.5 bytes a number
  CHECK(memory_with(compression).compression == 2 * 1.5 * 2 * kNumbers);
  CHECK(memory_with(compression, Sharding::none, true).compression == 2 * 1.5 * 10'000);
  CHECK(memory_with(compression, Sharding::parameters).compression == 2 * 1.5 * kNumbers);
}

TEST_CASE("hpZ keeps a second copy in each node") {
  Compression compression = of_kind(CompressionKind::zero_plus_plus);
  compression.secondary_weights = true;
  compression.node_ranks = 2;
  CHECK(memory_with(compression, Sharding::parameters).compression == 2 * 2 * kNumbers / 2);
}
