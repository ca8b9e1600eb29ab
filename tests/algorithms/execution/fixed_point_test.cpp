#include "algorithms/execution/fixed_point.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/execution/element_values.hpp"
#include "algorithms/execution/expectation.hpp"
#include "algorithms/schedule/layout.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/execution/real_sums.hpp"

using namespace athanor;

namespace {

Collective all_reduce(std::uint32_t ranks, std::size_t count) {
  return {CollectiveKind::all_reduce, ranks, Elements{static_cast<std::int64_t>(count)}};
}

std::vector<std::byte> bytes_of(DataType type, const Numbers& numbers) {
  std::vector<std::byte> bytes(numbers.size() * element_size(type));
  for (std::size_t i = 0; i < numbers.size(); ++i) { put_element(type, &bytes[i * element_size(type)], numbers[i]); }
  return bytes;
}

std::vector<std::int32_t> integers_of(const FixedPoint& fixed_point, DataType type, const Numbers& numbers) {
  std::vector<std::byte> bytes(numbers.size() * 4);
  fixed_point.encode(bytes_of(type, numbers), bytes);
  std::vector<std::int32_t> integers(numbers.size());
  std::memcpy(integers.data(), bytes.data(), bytes.size());
  return integers;
}

FixedPoint agreed(DataType type, const std::vector<Numbers>& inputs, std::int64_t block) {
  FixedPoint fixed_point(all_reduce(static_cast<std::uint32_t>(inputs.size()), inputs[0].size()), type, Reduction::sum,
                         Elements{block});
  for (std::uint32_t rank = 0; rank < inputs.size(); ++rank) { fixed_point.agree(rank, bytes_of(type, inputs[rank])); }
  return fixed_point;
}

/// How far the sum of an element may be off by what the header says, before it is rounded to the type and divided.
double error_bound(const std::vector<Numbers>& inputs, std::size_t block, std::size_t element) {
  double greatest = 0;
  for (const Numbers& of_rank : inputs) {
    const std::size_t first = element / block * block;
    for (std::size_t i = first; i < std::min(first + block, of_rank.size()); ++i) {
      greatest = std::max(greatest, std::fabs(of_rank[i]));
    }
  }
  if (greatest == 0) { return 0; }
  const auto ranks = static_cast<double>(inputs.size());
  return std::ldexp(ranks / (2 * std::floor(2147483647 / ranks)), std::ilogb(greatest) + 1);
}

}  // namespace

TEST_CASE("the error is at most P * 2^e / (2 L), and half a unit of the type for the last rounding") {
  constexpr std::size_t kCount = 1500;
  for (const DataType type : {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16}) {
    for (const std::uint32_t ranks : {2U, 3U, 8U, 33U}) {
      for (const std::int64_t block : {1, 7, 256, 4000}) {
        CAPTURE(name(type));
        CAPTURE(ranks);
        CAPTURE(block);
        const auto inputs = drawn_numbers(type, ranks, kCount, -9, 4, true, "bound");
        const Numbers exact = exact_sums(inputs);
        const FixedPoint fixed_point = agreed(type, inputs, block);
        const RealSums sums(*tree_of(ranks, 4, kCount), all_reduce(ranks, kCount), type, inputs, Elements{block});
        double greatest = 0;
        for (std::size_t i = 0; i < kCount; ++i) {
          const double bound = error_bound(inputs, static_cast<std::size_t>(block), i);
          const double error = std::fabs(sums.of(0)[i] - exact[i]);
          // Of the sum that is rounded, which may lie in the next binade.
          const double rounding = spacing(type, std::fabs(exact[i]) + bound) / 2;
          if (error > bound + rounding) { FAIL_CHECK(i, ": ", error, " above ", bound, " + ", rounding); }
          greatest = std::max(greatest, error / bound);
        }
        // Random roundings add up to about a third of the worst case at 8 ranks: the bound is not far away.
        if (type == DataType::float64 && ranks <= 8) { CHECK(greatest > 0.5); }
      }
    }
  }
}

TEST_CASE("integers never overflow, not even where every rank has the greatest number below a power of two") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 7U, 8U, 100U, 1000U, 65'537U}) {
    CAPTURE(ranks);
    for (const double number : {std::nextafter(1.0, 0.0), -std::nextafter(1.0, 0.0), -std::nextafter(0x1p900, 0.0)}) {
      FixedPoint fixed_point(all_reduce(ranks, 1), DataType::float64, Reduction::sum, Elements{1});
      fixed_point.agree(0, bytes_of(DataType::float64, {number}));
      const std::int64_t integer = std::abs(std::int64_t{integers_of(fixed_point, DataType::float64, {number})[0]});
      CHECK(integer == fixed_point.limit());
      CHECK(integer * ranks <= kMost);
      CHECK((integer + 1) * ranks > kMost);  // and no bit is given away
    }
  }
}

TEST_CASE("a sum at the limit comes out of the engines with its sign and size") {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 9U, 64U}) {
    const double number = std::nextafter(4.0, 0.0);
    for (const double sign : {-1.0, 1.0}) {
      const std::vector<Numbers> inputs(ranks, Numbers(300, sign * number));
      const RealSums sums(*tree_of(ranks, 4, 300), all_reduce(ranks, 300), DataType::float64, inputs, Elements{64});
      CHECK(sums.of(ranks - 1)[299] == doctest::Approx(sign * number * ranks).epsilon(1e-6));
    }
  }
}

TEST_CASE("sums that a type holds come out exactly where the integers have its bits; float64 has more than they") {
  int runs = 0;
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.engine == Engine::none || !reduces(algorithm.kind)) { continue; }
    for (const Reduction reduction : {Reduction::sum, Reduction::average}) {
      for (const bool in_place : {false, true}) {
        for (const DataType type : {DataType::float16, DataType::bfloat16, DataType::float32, DataType::float64}) {
          const Collective collective{algorithm.kind, 7, Elements{1003}, 0, in_place};
          if (algorithm.refuses(collective, {})) { continue; }
          const auto schedule = algorithm.make(collective, {});
          const RankMemory memory(*schedule, type);
          const Expectation expectation(collective, type, reduction);
          for (std::uint32_t rank = 0; rank < 7; ++rank) { expectation.fill(rank, memory.buffers()[rank].input); }
          run_in_fixed_point(
              *schedule, collective,
              {.type = type, .reduction = reduction, .buffers = memory.buffers(), .workers = 2, .slots = {}},
              Elements{256});
          bool right = true;
          for (std::uint32_t rank = 0; rank < 7; ++rank) {
            right = right && !expectation.wrong(rank, memory.buffers()[rank].output);
          }
          CAPTURE(algorithm.name);
          CHECK(right == (type != DataType::float64));
          ++runs;
        }
      }
    }
  }
  CHECK(runs >= 12);
}

TEST_CASE("beside a large number a small one is lost, unless its block is its own") {
  const std::vector<Numbers> inputs(2, Numbers{1, 0x1p-40});
  const auto sums = [&](std::int64_t block) {
    return RealSums(*tree_of(2, 2, 2), all_reduce(2, 2), DataType::float32, inputs, Elements{block}).of(0);
  };
  CHECK(sums(2)[1] == 0);
  CHECK(sums(1)[1] == doctest::Approx(0x1p-39).epsilon(1e-8));
}

TEST_CASE("the exponent is that of the greatest number of any rank, and zeros have none") {
  const FixedPoint fixed_point = agreed(DataType::float64, {{0, 0, 1, 0}, {0, 0, 0, -8}, {0, 0, 0.5, 7.9}}, 2);
  CHECK(fixed_point.limit() == 715'827'882);
  CHECK(integers_of(fixed_point, DataType::float64, {0, 0, 0, 0})[0] == 0);
  CHECK(integers_of(fixed_point, DataType::float64, {0, 0, 16 - 1e-9, -8})[2] == 715'827'882);  // 8 is not below 2^3
  CHECK(integers_of(fixed_point, DataType::float64, {0, 0, 0, -8})[3] == -715'827'882 / 2);
}

TEST_CASE("whoever adds integers, in whatever order, gets the same bits, where floating point does not") {
  constexpr std::size_t kCount = 2000;
  const auto inputs = drawn_numbers(DataType::float32, 12, kCount, -6, 6, true, "same bits");
  const auto fixed = [&](const Schedule& schedule, EngineArithmetic engines = {}) {
    return RealSums(schedule, all_reduce(12, kCount), DataType::float32, inputs, Elements{100}, engines).bits();
  };
  const auto tree = tree_of(12, 3, kCount);
  const auto ring = all_reduce_by("ring", 12, kCount);
  const auto expected = fixed(*tree);
  CHECK(fixed(*ring) == expected);
  CHECK(fixed(*all_reduce_by("nvls", 12, kCount)) == expected);
  CHECK(fixed(*tree, {.order = SummationOrder::arrival, .seed = 9}) == expected);
  CHECK(RealSums(*tree, DataType::float32, inputs).bits() != RealSums(*ring, DataType::float32, inputs).bits());
}

TEST_CASE("parts of a reduce-scatter have the exponents of their place in the vector") {
  constexpr std::uint32_t kRanks = 5;
  constexpr std::int64_t kCount = 23;
  const Collective collective{CollectiveKind::reduce_scatter, kRanks, Elements{kCount}};
  std::vector<Numbers> inputs(kRanks);
  for (Numbers& of_rank : inputs) {
    for (int i = 0; i < kCount; ++i) { of_rank.push_back(std::ldexp(1.0, i)); }
  }
  const auto schedule = find(collective.kind, "ring").make(collective, {});
  const RealSums sums(*schedule, collective, DataType::float64, inputs, Elements{1});
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const ElementRange part = block(collective.count, collective.ranks, rank);
    for (std::int64_t k = 0; k < part.count.count(); ++k) {
      const double expected = kRanks * std::ldexp(1.0, static_cast<int>(part.first.count() + k));
      CHECK(sums.of(rank)[static_cast<std::size_t>(k)] == doctest::Approx(expected).epsilon(1e-8));
    }
  }
}

TEST_CASE("what has no fixed point is refused") {
  const auto reason = [](CollectiveKind kind, DataType type, Reduction reduction) {
    return FixedPoint::refusal({kind, 4, Elements{8}}, type, reduction).value_or("");
  };
  CHECK(reason(CollectiveKind::all_reduce, DataType::float16, Reduction::average).empty());
  CHECK(reason(CollectiveKind::all_reduce, DataType::int32, Reduction::sum).starts_with("int32 needs no fixed point"));
  CHECK(reason(CollectiveKind::reduce, DataType::float32, Reduction::product).starts_with("a product is not"));
  CHECK(reason(CollectiveKind::broadcast, DataType::float32, Reduction::sum) == "nothing is added up in broadcast");
  for (const double wrong : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    FixedPoint fixed_point(all_reduce(2, 3), DataType::float32, Reduction::sum, Elements{2});
    CHECK_THROWS_AS(fixed_point.agree(1, bytes_of(DataType::float32, {1, wrong, 1})), SimulationError);
  }
}
