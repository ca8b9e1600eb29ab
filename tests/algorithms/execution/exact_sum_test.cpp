#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/execution/element_values.hpp"
#include "sim/random.hpp"

using namespace athanor;

namespace {

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) { sum.add(value); }
  return sum.rounded();
}

/// What a value becomes as an element.
double as(DataType type, double value) {
  std::byte element[8];
  put_element(type, element, value);
  return element_value(type, element);
}

double drawn(RandomStream& random, int least, int most) {
  const double significand = 1 + static_cast<double>(random.bits() >> 12) * 0x1p-52;
  const auto range = static_cast<std::uint64_t>(most - least + 1);
  return std::ldexp(random.below(2) == 0 ? significand : -significand, least + static_cast<int>(random.below(range)));
}

}  // namespace

TEST_CASE("an exact sum keeps what lies far below it, and rounds once, ties to even") {
  CHECK(sum_of({}) == 0);
  CHECK(sum_of({1e300, 1, -1e300}) == 1);
  CHECK(sum_of({1e300, -1e-300, -1e300}) == -1e-300);
  CHECK(sum_of({1, 0x1p-53}) == 1);
  CHECK(sum_of({1, 0x1p-53, 0x1p-500}) == 1 + 0x1p-52);
  CHECK(sum_of({1, 0x1p-53, -0x1p-500}) == 1);
  CHECK(sum_of({1 + 0x1p-52, 0x1p-53}) == 1 + 0x1p-51);
  CHECK(sum_of({-1, -0x1p-53, -0x1p-500}) == -1 - 0x1p-52);
  const double least = std::numeric_limits<double>::denorm_min();
  const double greatest = std::numeric_limits<double>::max();
  CHECK(sum_of({least, least, least}) == 3 * least);
  CHECK(sum_of({greatest, greatest, -greatest}) == greatest);
  CHECK(sum_of({greatest, greatest}) == std::numeric_limits<double>::infinity());
  CHECK_THROWS_AS(sum_of({std::nan("")}), std::logic_error);
}

TEST_CASE("an exact sum of whole numbers is what 128 bits make of them") {
  __extension__ using Integer = __int128;
  RandomStream random(1, "exact sum");
  for (int repetition = 0; repetition < 200; ++repetition) {
    ExactSum sum;
    Integer expected = 0;
    for (int i = 0; i < 100; ++i) {
      // Up to 2^111: the sum of a hundred stays below 2^118.
      const double value = std::trunc(drawn(random, 0, 111));
      sum.add(value);
      expected += static_cast<Integer>(value);
    }
    CHECK(sum.rounded() == static_cast<double>(expected));
  }
}

TEST_CASE("an exact sum does not depend on the order, and what is subtracted again leaves nothing") {
  RandomStream random(2, "exact sum");
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) { values.push_back(drawn(random, -1000, 1000)); }
  const double sum = sum_of(values);
  random.shuffle(values);
  CHECK(sum_of(values) == sum);
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) { values.push_back(-values[i]); }
  random.shuffle(values);
  CHECK(sum_of(values) == 0);
}

TEST_CASE("a double becomes an element by one rounding: half a unit away at most, and itself where the type has it") {
  RandomStream random(3, "exact sum");
  for (const DataType type : {DataType::float16, DataType::bfloat16, DataType::float32, DataType::float64}) {
    CAPTURE(name(type));
    for (int i = 0; i < 20'000; ++i) {
      const double value = drawn(random, type == DataType::float16 ? -26 : -40, type == DataType::float16 ? 14 : 40);
      const double element = as(type, value);
      if (std::fabs(element - value) > spacing(type, value) / 2) { FAIL_CHECK(value); }
      if (as(type, element) != element) { FAIL_CHECK(element); }
    }
  }
}

TEST_CASE("what lies just beside the middle of two halves is not rounded twice") {
  for (const double side : {-1.0, 1.0}) {
    // By way of a float32 all of these would be the middle, which goes to the even neighbour.
    const double half = 1 + 0x1p-11 + side * 0x1p-40;
    CHECK(as(DataType::float16, half) == (side < 0 ? 1 : 1 + 0x1p-10));
    const double odd = 1 + 3 * 0x1p-11 + side * 0x1p-40;
    CHECK(as(DataType::float16, -odd) == -(side < 0 ? 1 + 0x1p-10 : 1 + 0x1p-9));
    const double brain = 1 + 0x1p-8 + side * 0x1p-40;
    CHECK(as(DataType::bfloat16, brain) == (side < 0 ? 1 : 1 + 0x1p-7));
  }
  CHECK(as(DataType::float16, 65520 - 0x1p-30) == 65504);
  CHECK(as(DataType::float16, 65520) == std::numeric_limits<double>::infinity());
  CHECK(as(DataType::float16, 1e300) == std::numeric_limits<double>::infinity());
  CHECK(as(DataType::float16, -1e300) == -std::numeric_limits<double>::infinity());
  CHECK(as(DataType::float16, 1e-300) == 0);
  CHECK(std::isnan(as(DataType::float16, std::nan(""))));
}

TEST_CASE("spacing is the way to the next number of the type") {
  for (const double value : {1.0, 1.5, 2.0, 1e-3, 3e7, 1e-40, 0.0}) {
    CAPTURE(value);
    const auto single = static_cast<float>(value);
    const float above = std::nextafterf(single, std::numeric_limits<float>::infinity());
    CHECK(spacing(DataType::float32, single) == static_cast<double>(above) - static_cast<double>(single));
    const double next = std::nextafter(value, std::numeric_limits<double>::infinity());
    CHECK(spacing(DataType::float64, -value) == next - value);
  }
  CHECK(spacing(DataType::float16, 1) == 0x1p-10);
  CHECK(spacing(DataType::float16, 0) == 0x1p-24);
  CHECK(spacing(DataType::bfloat16, 1) == 0x1p-7);
  CHECK(spacing(DataType::int32, 1e6) == 1);
}
