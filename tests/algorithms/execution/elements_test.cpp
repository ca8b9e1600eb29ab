#include "algorithms/execution/elements.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/execution/half_precision.hpp"
#include "sim/random.hpp"

using namespace athanor;

namespace {

/// The value of a binary16 by its definition.
double defined(std::uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) { return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan(""); }
  if (exponent == 0) { return sign * std::ldexp(mantissa, -24); }
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

/// What an integer sum, product, ... is; computed in 128 bits and cut.
template <class Element>
Element naive(Reduction reduction, Element left, Element right) {
  __extension__ using Wide = __int128;
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average: return static_cast<Element>(Wide{left} + Wide{right});
    case Reduction::product: return static_cast<Element>(Wide{left} * Wide{right});
    case Reduction::minimum: return std::min(left, right);
    case Reduction::maximum: break;
  }
  return std::max(left, right);
}

float naive(Reduction reduction, float left, float right) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average: return left + right;
    case Reduction::product: return left * right;
    case Reduction::minimum: return std::fmin(left, right);
    case Reduction::maximum: break;
  }
  return std::fmax(left, right);
}

double naive(Reduction reduction, double left, double right) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average: return left + right;
    case Reduction::product: return left * right;
    case Reduction::minimum: return std::fmin(left, right);
    case Reduction::maximum: break;
  }
  return std::fmax(left, right);
}

Float16 naive(Reduction reduction, Float16 left, Float16 right) {
  return narrow_to_float16(naive(reduction, widen(left), widen(right)));
}

BFloat16 naive(Reduction reduction, BFloat16 left, BFloat16 right) {
  return narrow_to_bfloat16(naive(reduction, widen(left), widen(right)));
}

void draw(RandomStream& random, double& value) { value = static_cast<double>(random.bits() >> 40) / 256.0 - 30'000; }
void draw(RandomStream& random, float& value) { value = static_cast<float>(random.bits() >> 48) / 4 - 9000; }
void draw(RandomStream& random, Float16& value) { value.bits = static_cast<std::uint16_t>(random.below(0x7C00)); }
void draw(RandomStream& random, BFloat16& value) { value.bits = static_cast<std::uint16_t>(random.below(0x7F80)); }
template <class Integer>
void draw(RandomStream& random, Integer& value) {
  value = static_cast<Integer>(random.bits());
}

template <class Element>
std::vector<Element> draw_many(RandomStream& random, std::size_t count) {
  std::vector<Element> values(count);
  for (Element& value : values) { draw(random, value); }
  return values;
}

template <class Element>
bool equal_bits(const std::vector<Element>& a, const std::vector<Element>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Element)) == 0);
}

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    if (set <= instruction_set()) { sets.push_back(set); }
  }
  return sets;
}

template <class Element>
void check_reductions(DataType type) {
  RandomStream random(1, name(type));
  for (const Reduction reduction : reductions()) {
    for (const InstructionSet set : instruction_sets()) {
      const ElementKernels kernels = element_kernels(type, reduction, set);
      CHECK(kernels.size == sizeof(Element));
      CHECK((kernels.finish != nullptr) == (reduction == Reduction::average));
      for (const std::size_t count : {0U, 1U, 7U, 16U, 33U, 64U, 129U, 1000U}) {
        CAPTURE(name(type));
        CAPTURE(name(reduction));
        CAPTURE(count);
        const auto left = draw_many<Element>(random, count);
        const auto right = draw_many<Element>(random, count);
        std::vector<Element> expected;
        for (std::size_t i = 0; i < count; ++i) { expected.push_back(naive(reduction, left[i], right[i])); }
        std::vector<Element> apart(count);
        kernels.reduce(apart.data(), left.data(), right.data(), count);
        CHECK(equal_bits(apart, expected));
        std::vector<Element> in_left = left;
        kernels.reduce(in_left.data(), in_left.data(), right.data(), count);
        CHECK(equal_bits(in_left, expected));
        std::vector<Element> in_right = right;
        kernels.reduce(in_right.data(), left.data(), in_right.data(), count);
        CHECK(equal_bits(in_right, expected));
      }
    }
  }
}

/// Of {-7, 7, 100} averaged over 4 ranks.
template <class Element>
std::vector<Element> averaged(DataType type, const std::vector<Element>& sums, InstructionSet set) {
  std::vector<Element> result(sums.size());
  const ElementKernels kernels = element_kernels(type, Reduction::average, set);
  kernels.finish(result.data(), sums.data(), sums.size(), 4);
  std::vector<Element> in_place = sums;
  kernels.finish(in_place.data(), in_place.data(), in_place.size(), 4);
  CHECK(equal_bits(in_place, result));
  return result;
}

}  // namespace

TEST_CASE("every binary16 widens to the value that it is defined as") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double expected = defined(static_cast<std::uint16_t>(bits));
    const double value = widen(Float16{static_cast<std::uint16_t>(bits)});
    const bool same =
        std::isnan(expected) ? std::isnan(value) : value == expected && std::signbit(value) == std::signbit(expected);
    if (!same) { FAIL_CHECK(bits, ": ", value, " instead of ", expected); }
  }
}

TEST_CASE(
    "every finite binary16 narrows to itself, and between two of them the nearer one wins, at the middle the even "
    "one") {
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float low = widen(Float16{static_cast<std::uint16_t>(bits)});
    // What follows the largest finite number rounds to infinity, as if infinity were 2^16.
    const double next = bits + 1 == 0x7C00 ? 65536.0 : defined(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((static_cast<double>(low) + next) / 2);
    const bool right = narrow_to_float16(low).bits == bits &&
                       narrow_to_float16(std::nextafterf(middle, 0)).bits == bits &&
                       narrow_to_float16(middle).bits == bits + bits % 2 &&
                       narrow_to_float16(std::nextafterf(middle, 1e9F)).bits == bits + 1 &&
                       narrow_to_float16(-low).bits == (bits | 0x8000);
    if (!right) { FAIL_CHECK(bits); }
  }
}

TEST_CASE("what is too large for a binary16 becomes infinite, and NaN stays NaN") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float large : {65520.0F, 65536.0F, 1e30F, infinity}) {
    CHECK(narrow_to_float16(large).bits == 0x7C00);
    CHECK(narrow_to_float16(-large).bits == 0xFC00);
  }
  CHECK(std::isnan(widen(narrow_to_float16(std::nanf("")))));
  CHECK(std::isnan(widen(narrow_to_bfloat16(std::nanf("")))));
  CHECK(std::isnan(widen(narrow_to_bfloat16(std::bit_cast<float>(0x7F800001U)))));
  CHECK(widen(narrow_to_bfloat16(infinity)) == infinity);
  CHECK(widen(narrow_to_bfloat16(std::numeric_limits<float>::max())) == infinity);
}

TEST_CASE("every bfloat16 narrows to itself, and between two of them the nearer one wins, at the middle the even one") {
  for (std::uint32_t bits = 0; bits < 0x7F80; ++bits) {
    const std::uint32_t wide = bits << 16;
    const bool right = narrow_to_bfloat16(std::bit_cast<float>(wide)).bits == bits &&
                       narrow_to_bfloat16(std::bit_cast<float>(wide + 0x7FFF)).bits == bits &&
                       narrow_to_bfloat16(std::bit_cast<float>(wide + 0x8000)).bits == bits + bits % 2 &&
                       narrow_to_bfloat16(std::bit_cast<float>(wide + 0x8001)).bits == bits + 1 &&
                       narrow_to_bfloat16(std::bit_cast<float>(wide | 0x80000000)).bits == (bits | 0x8000);
    if (!right) { FAIL_CHECK(bits); }
  }
}

TEST_CASE("vectorised reductions equal element by element arithmetic, also onto one of their operands") {
  check_reductions<float>(DataType::float32);
  check_reductions<double>(DataType::float64);
  check_reductions<Float16>(DataType::float16);
  check_reductions<BFloat16>(DataType::bfloat16);
  check_reductions<std::int8_t>(DataType::int8);
  check_reductions<std::int32_t>(DataType::int32);
  check_reductions<std::int64_t>(DataType::int64);
}

TEST_CASE("an average divides floating point to the nearest and integers towards zero") {
  for (const InstructionSet set : instruction_sets()) {
    CHECK(averaged<float>(DataType::float32, {-7, 7, 100}, set) == std::vector<float>{-1.75F, 1.75F, 25});
    CHECK(averaged<double>(DataType::float64, {-7, 7, 100}, set) == std::vector<double>{-1.75, 1.75, 25});
    CHECK(averaged<std::int8_t>(DataType::int8, {-7, 7, 100}, set) == std::vector<std::int8_t>{-1, 1, 25});
    CHECK(averaged<std::int32_t>(DataType::int32, {-7, 7, 100}, set) == std::vector<std::int32_t>{-1, 1, 25});
    CHECK(averaged<std::int64_t>(DataType::int64, {-7, 7, INT64_MIN}, set) ==
          std::vector<std::int64_t>{-1, 1, INT64_MIN / 4});
    const auto halves = averaged<Float16>(DataType::float16, {narrow_to_float16(-7), narrow_to_float16(100)}, set);
    CHECK(widen(halves[0]) == -1.75F);
    CHECK(widen(halves[1]) == 25);
    const auto brains = averaged<BFloat16>(DataType::bfloat16, {narrow_to_bfloat16(-7), narrow_to_bfloat16(100)}, set);
    CHECK(widen(brains[0]) == -1.75F);
    CHECK(widen(brains[1]) == 25);
  }
}

TEST_CASE("an int8 is divided by more ranks than it can hold") {
  const std::vector<std::int8_t> sums{100, -128};
  std::vector<std::int8_t> result(2, 1);
  element_kernels(DataType::int8, Reduction::average).finish(result.data(), sums.data(), 2, 256);
  CHECK(result == std::vector<std::int8_t>{0, 0});
}

TEST_CASE("names of types are found again") {
  for (const DataType value : data_types()) { CHECK(data_type(name(value)) == value); }
  CHECK_FALSE(data_type("float"));
}
