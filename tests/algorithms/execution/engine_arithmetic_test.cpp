#include "algorithms/execution/engine_arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/apply.hpp"
#include "algorithms/execution/element_values.hpp"
#include "algorithms/execution/expectation.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "tests/algorithms/execution/real_sums.hpp"

using namespace athanor;

namespace {

constexpr EngineArithmetic kSingle{.accumulator = Accumulator::float32};
constexpr EngineArithmetic kDouble{.accumulator = Accumulator::float64};

EngineArithmetic arriving(std::uint64_t seed, Accumulator accumulator = Accumulator::data) {
  return {.accumulator = accumulator, .order = SummationOrder::arrival, .seed = seed};
}

/// Half a unit in the last place, relative to the number: what one rounding costs at most.
double unit(DataType type) { return spacing(type, 1) / 2; }

/// (1 + u)^roundings - 1: what so many roundings one after the other cost a sum of positive numbers at most.
double grown(DataType type, int roundings) { return std::expm1(roundings * std::log1p(unit(type))); }

std::vector<std::byte> noise(RandomStream& random, DataType type, std::size_t count) {
  std::vector<std::byte> bytes(count * element_size(type));
  for (std::size_t i = 0; i < count; ++i) {
    put_element(type, &bytes[i * element_size(type)], static_cast<double>(random.below(200)) - 100);
  }
  return bytes;
}

}  // namespace

TEST_CASE("an engine that accumulates as the data, in port order, does to the bit what a rank does") {
  RandomStream random(1, "engines like ranks");
  for (const DataType type : data_types()) {
    for (const Reduction reduction : reductions()) {
      for (const std::size_t sources : {1U, 2U, 3U, 7U}) {
        CAPTURE(name(type));
        CAPTURE(name(reduction));
        constexpr std::size_t kCount = 777;
        const std::size_t bytes = 2 * kCount * element_size(type);
        std::vector<std::vector<std::byte>> memory;
        std::vector<Source> from;
        for (std::size_t i = 0; i < sources; ++i) {
          memory.push_back(noise(random, type, 2 * kCount));
          from.push_back({memory.back().data(), i == 1 ? 5 : 0, i == 1 ? 9 : 0});
        }
        std::vector<std::vector<std::byte>> to(4, std::vector<std::byte>(bytes));
        const std::vector<Target> ranks{{to[0].data(), 3, 4}, {to[1].data(), 0, 0}};
        const std::vector<Target> engines{{to[2].data(), 3, 4}, {to[3].data(), 0, 0}};
        apply({element_kernels(type, reduction), 5}, from, ranks, Elements{kCount}, true);
        EngineReducer({}, type, reduction, 5).apply({}, 1, from, engines, Elements{kCount}, true);
        CHECK(to[2] == to[0]);
        CHECK(to[3] == to[1]);
      }
    }
  }
}

TEST_CASE("every algorithm with engines computes what it promises, whatever the arithmetic") {
  int runs = 0;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.engine == Engine::none || !reduces(algorithm.kind)) { continue; }
    for (const DataType type : data_types()) {
      for (const EngineArithmetic& engines : {kSingle, kDouble, arriving(3), arriving(4, Accumulator::float64)}) {
        const Collective collective{algorithm.kind, 6, Elements{1003}};
        const Layout layout{.channels = 2, .chunk = Elements{100}};
        if (refusal(engines, type) || algorithm.refuses(collective, layout)) { continue; }
        const auto schedule = algorithm.make(collective, layout);
        const RankMemory memory(*schedule, type);
        const Expectation expectation(collective, type, Reduction::average);
        for (std::uint32_t rank = 0; rank < 6; ++rank) { expectation.fill(rank, memory.buffers()[rank].input); }
        run_on_threads(*schedule, {.type = type,
                                   .reduction = Reduction::average,
                                   .buffers = memory.buffers(),
                                   .workers = 2,
                                   .slots = {},
                                   .engines = engines});
        for (std::uint32_t rank = 0; rank < 6; ++rank) {
          const auto wrong = expectation.wrong(rank, memory.buffers()[rank].output);
          if (wrong) { FAIL_CHECK(algorithm.name, " of ", name(type), ": ", *wrong); }
        }
        ++runs;
      }
    }
  }
  CHECK(runs >= 50);
}

TEST_CASE("one engine with a wide accumulator rounds correctly what fits into it; one that is as the data does not") {
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    for (const std::uint32_t ranks : {2U, 3U, 17U, 64U}) {
      CAPTURE(name(type));
      CAPTURE(ranks);
      // Numbers of one binade with 11 bits at most: 64 of them add up exactly in 24 bits.
      const auto inputs = drawn_numbers(type, ranks, 700, 0, 0, false, "one binade");
      const Numbers exact = exact_sums(inputs);
      const auto tree = tree_of(ranks, ranks, 700);
      const auto error = [&](const EngineArithmetic& engines) {
        return greatest_error_in_ulp(type, RealSums(*tree, type, inputs, engines).of(ranks - 1), exact);
      };
      CHECK(error(kSingle) <= 0.5);
      CHECK(error(kDouble) <= 0.5);
      CHECK(error(arriving(7, Accumulator::float32)) <= 0.5);
      if (ranks > 2) { CHECK(error({}) > 0.5); }
    }
  }
}

TEST_CASE("a double accumulator rounds float32 once, of mixed signs and sizes too") {
  const auto inputs = drawn_numbers(DataType::float32, 9, 2000, -10, 10, true, "mixed");
  const Numbers exact = exact_sums(inputs);
  const auto tree = tree_of(9, 9, 2000);
  CHECK(greatest_error_in_ulp(DataType::float32, RealSums(*tree, DataType::float32, inputs, kDouble).of(0), exact) <=
        0.5);
  CHECK(greatest_error_in_ulp(DataType::float32, RealSums(*tree, DataType::float32, inputs).of(0), exact) > 0.5);
}

TEST_CASE("with a wide accumulator a tree rounds once per level, as the data once per input of each node") {
  constexpr std::size_t kCount = 2000;
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    struct Shape {
      std::uint32_t ranks = 0;
      std::uint32_t arity = 0;
      int levels = 0;
    };
    for (const Shape& shape : {Shape{27, 3, 3}, Shape{64, 8, 2}, Shape{64, 4, 3}, Shape{32, 2, 5}}) {
      CAPTURE(name(type));
      CAPTURE(shape.arity);
      const auto inputs = drawn_numbers(type, shape.ranks, kCount, 0, 0, false, "levels");
      const Numbers exact = exact_sums(inputs);
      const auto tree = tree_of(shape.ranks, shape.arity, kCount);
      const double wide = greatest_relative_error(RealSums(*tree, type, inputs, kDouble).of(0), exact);
      const double narrow = greatest_relative_error(RealSums(*tree, type, inputs).of(0), exact);
      const int inputs_per_node = static_cast<int>(shape.arity) - 1;
      CHECK(wide <= grown(type, shape.levels));
      CHECK(wide > unit(type));  // more than a single rounding: the nodes in between do round
      CHECK(narrow <= grown(type, shape.levels * inputs_per_node));
      if (inputs_per_node > 1) { CHECK(narrow > wide); }
    }
  }
}

TEST_CASE("float32 and float64 accumulators agree on halves of one binade") {
  const auto inputs = drawn_numbers(DataType::float16, 40, 3000, 3, 3, true, "alike");
  const auto tree = tree_of(40, 5, 3000);
  const auto bits = [&](const EngineArithmetic& engines) {
    return RealSums(*tree, DataType::float16, inputs, engines).bits();
  };
  CHECK(bits(kSingle) == bits(kDouble));
  CHECK(bits(kSingle) != bits({}));
}

TEST_CASE("a ring of halves loses more than a tree of engines can: P-1 roundings against one per level") {
  constexpr std::uint32_t kRanks = 64;
  constexpr std::size_t kCount = 64 * 64;
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    CAPTURE(name(type));
    const auto inputs = drawn_numbers(type, kRanks, kCount, 0, 0, false, "ring");
    const Numbers exact = exact_sums(inputs);
    const auto ring = all_reduce_by("ring", kRanks, kCount);
    const double lost = greatest_relative_error(RealSums(*ring, type, inputs).of(0), exact);
    CHECK(lost <= grown(type, kRanks - 1));
    CHECK(lost > grown(type, 2));
    const auto tree = tree_of(kRanks, 8, kCount);
    CHECK(greatest_relative_error(RealSums(*tree, type, inputs, kSingle).of(0), exact) <= grown(type, 2));
  }
}

TEST_CASE("ranks keep their arithmetic whatever engines do") {
  const auto inputs = drawn_numbers(DataType::float16, 8, 1000, -3, 3, true, "ranks");
  for (const char* algorithm : {"ring", "recursive_doubling", "parameter_server"}) {
    const auto schedule = all_reduce_by(algorithm, 8, 1000);
    CHECK(RealSums(*schedule, DataType::float16, inputs, arriving(1, Accumulator::float64)).bits() ==
          RealSums(*schedule, DataType::float16, inputs).bits());
  }
}

TEST_CASE("three messages that arrive in any order give one of three sums, and each of them in some packet") {
  // 2^24 + 1 is no float32: (a + b) + c, (a + c) + b and (b + c) + a all differ.
  const std::vector<Numbers> values{{0x1p24}, {1}, {-0x1p24 + 3}};
  constexpr std::size_t kPackets = 40;
  constexpr std::size_t kCount = kPackets * EngineArithmetic::kPacketElements;
  std::vector<Numbers> inputs;
  for (const Numbers& value : values) { inputs.emplace_back(kCount, value[0]); }
  const auto sum = [](float a, float b, float c) { return static_cast<double>((a + b) + c); };
  const float a = 0x1p24F;
  const float c = -0x1p24F + 3;
  const std::set<double> possible{sum(a, 1, c), sum(a, c, 1), sum(1, c, a)};
  REQUIRE(possible.size() >= 2);
  const auto tree = tree_of(3, 3, kCount);
  const RealSums sums(*tree, DataType::float32, inputs, arriving(5));
  const Numbers& results = sums.of(1);
  CHECK(std::set<double>(results.begin(), results.end()) == possible);
  for (std::size_t i = 0; i < kCount; i += EngineArithmetic::kPacketElements) {
    const auto packet = std::set<double>(&results[i], &results[i] + EngineArithmetic::kPacketElements);
    CHECK(packet.size() == 1);
  }
  const RealSums in_order(*tree, DataType::float32, inputs);
  CHECK(in_order.of(1) == Numbers(kCount, sum(a, 1, c)));
}

TEST_CASE("the order of arrival changes the bits of float32, not of whole numbers, and hangs on the seed alone") {
  constexpr std::size_t kCount = 5000;
  const auto inputs = drawn_numbers(DataType::float32, 16, kCount, -4, 4, true, "arrival");
  const auto whole = drawn_numbers(DataType::int32, 16, kCount, 8, 20, true, "arrival");
  for (const auto& schedule : {tree_of(16, 4, kCount, 2), all_reduce_by("nvls", 16, kCount)}) {
    const auto bits = [&](std::uint64_t seed, std::uint32_t workers) {
      return RealSums(*schedule, DataType::float32, inputs, arriving(seed), Reduction::sum, workers).bits();
    };
    const auto first = bits(1, 2);
    CHECK(bits(1, 1) == first);
    CHECK(bits(1, 4) == first);
    CHECK(bits(2, 2) != first);
    CHECK(RealSums(*schedule, DataType::float32, inputs).bits() != first);
    CHECK(RealSums(*schedule, DataType::int32, whole, arriving(1)).bits() ==
          RealSums(*schedule, DataType::int32, whole).bits());
    CHECK(RealSums(*schedule, DataType::float32, inputs, arriving(1, Accumulator::float64)).of(3) ==
          RealSums(*schedule, DataType::float32, inputs, arriving(1, Accumulator::float64)).of(0));
  }
}

TEST_CASE("an average is divided in the accumulator, so that it is rounded once") {
  constexpr std::uint32_t kRanks = 7;
  const auto inputs = drawn_numbers(DataType::float16, kRanks, 3000, 0, 0, false, "average");
  Numbers exact = exact_sums(inputs);
  for (double& sum : exact) { sum /= kRanks; }
  const auto server = all_reduce_by("parameter_server_dedicated", kRanks, 3000);
  const auto error = [&](const EngineArithmetic& engines) {
    const RealSums averages(*server, DataType::float16, inputs, engines, Reduction::average);
    return greatest_error_in_ulp(DataType::float16, averages.of(2), exact);
  };
  CHECK(error(kDouble) <= 0.5 * (1 + 1e-9));
  CHECK(error({}) > 0.5 * (1 + 1e-9));
}

TEST_CASE("an accumulator that is narrower than the data, or none for integers, is refused by every executor") {
  CHECK_FALSE(refusal(kSingle, DataType::float16));
  CHECK_FALSE(refusal(kDouble, DataType::float64));
  CHECK_FALSE(refusal(arriving(1), DataType::int8));
  CHECK(refusal(kSingle, DataType::float64).value_or("").find("does not fit") != std::string::npos);
  CHECK(refusal(kDouble, DataType::int64).value_or("").find("int64 is added as what it is") != std::string::npos);
  const auto tree = tree_of(2, 2, 4);
  CHECK_THROWS_AS(RealSums(*tree, DataType::int32, std::vector<Numbers>(2, Numbers(4)), kSingle), UsageError);
}

TEST_CASE("accumulators and orders have names of their own") {
  std::set<std::string_view> names;
  for (const Accumulator each : accumulators()) { names.insert(name(each)); }
  for (const SummationOrder each : summation_orders()) { names.insert(name(each)); }
  CHECK(names == std::set<std::string_view>{"data", "float32", "float64", "ports", "arrival"});
}
