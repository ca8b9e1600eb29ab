// What each way of compression sends, by hand.
#include "models/training/compression/coding.hpp"

#include <doctest/doctest.h>

using namespace athanor;

namespace {

Compression of_kind(CompressionKind kind) {
  Compression compression;
  compression.kind = kind;
  return compression;
}

constexpr CodingPlace kFour{.ranks = 4};

/// Of a matrix of 40 x 60 and a vector of 100 numbers.
GradientPart matrix_and_vector(const Compression& compression) { return {2500, low_rank_of(compression, 40, 60, 1)}; }

}  // namespace

TEST_CASE("without compression an all-reduce of S bytes sends 2 (P - 1) / P of them, other collectives half of that") {
  for (const double ranks : {1.0, 2.0, 3.0, 8.0}) {
    const CodingPlace place{.ranks = ranks};
    CHECK(sent_bytes(CodedCall{"", CollectiveKind::all_reduce, 240}, place) == 2 * 240 * (ranks - 1) / ranks);
    CHECK(sent_bytes(CodedCall{"", CollectiveKind::all_to_all, 240}, place) == 240 * (ranks - 1) / ranks);
    CHECK(sent_bytes(CodedCall{"", CollectiveKind::all_gather, 240}, place) == 240 * (ranks - 1) / ranks);
  }
}

TEST_CASE("gradients that are cast are summed in two bytes, and kernels read and write both precisions") {
  for (const CompressionKind kind : {CompressionKind::fp16, CompressionKind::bf16}) {
    const CodingStages stages = coded_all_reduce(of_kind(kind), {1000}, kFour);
    REQUIRE(stages.size() == 2);
    CHECK(stages[0].call->kind == CollectiveKind::all_reduce);
    CHECK(stages[0].call->bytes == 2000);
    CHECK(stages[0].call->type == (kind == CompressionKind::fp16 ? DataType::float16 : DataType::bfloat16));
    CHECK(stages[0].bytes == 6000);
    CHECK(stages[1].bytes == 6000);
    const CodingStages scattered = coded_reduce_scatter(of_kind(kind), {1000}, kFour);
    CHECK(scattered[0].call->kind == CollectiveKind::reduce_scatter);
    CHECK(scattered[1].bytes == 1500);
  }
}

TEST_CASE("eight bits and a scale for each block go to whom they belong to, and the sums back to all") {
  Compression compression = of_kind(CompressionKind::int8);
  compression.block = 8;  // 1.5 bytes a number
  for (const CompressionKind kind : {CompressionKind::int8, CompressionKind::fp8}) {
    compression.kind = kind;
    const CodingStages stages = coded_all_reduce(compression, {800}, kFour);
    REQUIRE(stages.size() == 3);
    CHECK(stages[0].call->kind == CollectiveKind::all_to_all);
    CHECK(stages[0].call->bytes == 1200);
    CHECK(stages[1].call->kind == CollectiveKind::all_gather);
    CHECK(stages[1].call->bytes == 1200);
    CHECK(!stages[2].call);
    CHECK(sent_bytes(stages, kFour) == 1800);  // of 4,800 in fp32
    // Reads 3,200 and writes 1,200; reads a part of each, together 1,200, and writes the sum's 300; the other way.
    CHECK(stages[0].bytes == 4400);
    CHECK(stages[1].bytes == 1500);
    CHECK(stages[2].bytes == 4400);
    const CodingStages scattered = coded_reduce_scatter(compression, {800}, kFour);
    REQUIRE(scattered.size() == 2);
    CHECK(sent_bytes(scattered, kFour) == 900);
    CHECK(scattered[1].bytes == 1200 + 800);
  }
}

TEST_CASE("what sparse gradients send grows with the ranks, beyond what dense ones send") {
  Compression compression = of_kind(CompressionKind::top_k);
  compression.density = {1, 10};
  for (const double ranks : {2.0, 3.0, 16.0, 64.0}) {
    const CodingPlace place{.ranks = ranks};
    const CodingStages stages = coded_all_reduce(compression, {1000}, place);
    CHECK(stages[0].call->bytes == doctest::Approx(ranks * 100 * 8));
    CHECK(sent_bytes(stages, place) == doctest::Approx((ranks - 1) * 800));
    const double dense = 2 * 4000 * (ranks - 1) / ranks;
    CHECK((sent_bytes(stages, place) < dense) == (ranks < 10));
  }
}

TEST_CASE("what was not sent costs two more kernels, that read and write it") {
  Compression compression = of_kind(CompressionKind::top_k);
  compression.density = {1, 10};
  const CodingStages with = coded_all_reduce(compression, {1000}, kFour);
  compression.error_feedback = false;
  const CodingStages without = coded_all_reduce(compression, {1000}, kFour);
  CHECK(with[0].bytes - without[0].bytes == doctest::Approx(3 * 4000 + 400));
  CHECK(with[0].kernels - without[0].kernels == 2);
  CHECK(sent_bytes(with, kFour) == sent_bytes(without, kFour));
}

TEST_CASE("PowerSGD sends rank x (n + m) numbers of a matrix of n x m, and vectors as they are") {
  Compression compression = of_kind(CompressionKind::power_sgd);
  for (const std::uint32_t rank : {1U, 2U, 4U}) {
    compression.rank = rank;
    const CodingStages stages = coded_all_reduce(compression, matrix_and_vector(compression), kFour);
    REQUIRE(stages.size() == 4);
    CHECK(stages[0].call->bytes == 4 * 100);
    CHECK(stages[1].call->bytes == 4 * 40 * rank);
    CHECK(stages[2].call->bytes == 4 * 60 * rank);
    CHECK(!stages[3].call);
    CHECK(sent_bytes(stages, kFour) == 1.5 * 4 * (100 + 100 * rank));
  }
}

TEST_CASE("a matrix that PowerSGD would not make so many times smaller stays as it is") {
  // 40 x 60 and rank r: 2,400 numbers against 100 r.
  Compression compression = of_kind(CompressionKind::power_sgd);
  const auto shrinks = [&] { return low_rank_of(compression, 40, 60, 1).matrices == 1; };
  compression.rank = 11;
  CHECK(shrinks());
  compression.rank = 12;
  CHECK(!shrinks());
  compression.least_ratio = {1, 1};
  CHECK(shrinks());
  compression.rank = 24;
  CHECK(!shrinks());
  const CodingStages stages = coded_all_reduce(compression, matrix_and_vector(compression), kFour);
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].call->bytes == 4 * 2500);
}

TEST_CASE("one-bit Adam sends a bit for each number both ways, and a scale of each rank") {
  const CodingStages stages = coded_all_reduce(of_kind(CompressionKind::one_bit_adam), {8000}, kFour);
  REQUIRE(stages.size() == 3);
  CHECK(stages[0].call->bytes == 1000 + 16);
  CHECK(stages[1].call->bytes == 1000 + 16);
  CHECK(sent_bytes(stages, kFour) == 1.5 * 1016);
}

TEST_CASE("with the paper's 15 % of warm-up one-bit Adam sends a fifth of what 16 bits would") {
  // Tang et al. 2021, section 1: up to 5x less.
  const CodingPlace place{.ranks = 64};
  const double dense = sent_bytes(CodedCall{"", CollectiveKind::all_reduce, 2 * 340e6}, place);
  const double coded = sent_bytes(coded_all_reduce(of_kind(CompressionKind::one_bit_adam), {340e6}, place), place);
  CHECK(dense / coded == doctest::Approx(16).epsilon(1e-4));
  CHECK(dense / (0.15 * dense + 0.85 * coded) == doctest::Approx(4.92).epsilon(1e-3));
}

TEST_CASE("ZeRO++ sends a quarter of ZeRO-3's bytes: parameters in int8 once, gradients in int4 between nodes") {
  // Wang et al. 2023, table 1: 3 M of 16 bits, and 0.75 M with all three; blocks so large that scales do not count.
  Compression compression = of_kind(CompressionKind::zero_plus_plus);
  compression.quantized_gradients = compression.quantized_weights = true;
  compression.block = 1U << 30;
  const CodingPlace place{.ranks = 32, .node_ranks = 8, .gradient_bytes = 2};
  const double numbers = 6400;
  const CodingStages gathered = coded_gather(compression, 2 * numbers, 2, place);
  REQUIRE(gathered.size() == 2);
  CHECK(gathered[0].call->bytes == doctest::Approx(numbers));
  const CodingStages scattered = coded_reduce_scatter(compression, {numbers}, place);
  REQUIRE(scattered.size() == 3);
  CHECK(scattered[0].call->group == CodedGroup::node);
  CHECK(scattered[0].call->bytes == doctest::Approx(numbers / 2));
  CHECK(scattered[1].call->group == CodedGroup::nodes);
  CHECK(scattered[1].call->bytes == doctest::Approx(numbers / 16));  // of a rank; of a node's eight numbers / 2
  CHECK(sent_bytes(*scattered[1].call, place) == doctest::Approx(numbers / 16 * 3 / 4));
  const double zero3 = 3 * (2 * numbers);
  const double zero_plus_plus = gathered[0].call->bytes + 8 * scattered[1].call->bytes;
  CHECK(zero_plus_plus / zero3 == doctest::Approx(0.25));
}

TEST_CASE("whoever has all copies of a node, or one in each, scatters gradients at once") {
  Compression compression = of_kind(CompressionKind::zero_plus_plus);
  compression.quantized_gradients = true;
  compression.block = 8;  // a byte a number
  for (const auto& [node, group] : {std::pair(8.0, CodedGroup::node), std::pair(1.0, CodedGroup::nodes)}) {
    const CodingPlace place{.ranks = 8, .node_ranks = node, .gradient_bytes = 2};
    const CodingStages stages = coded_reduce_scatter(compression, {800}, place);
    REQUIRE(stages.size() == 2);
    CHECK(stages[0].call->group == group);
    CHECK(stages[0].call->bytes == 800);
    CHECK(sent_bytes(stages, place) == 700);
    CHECK(stages[1].bytes == 800 + 200);
  }
}
