#include "algorithms/execution/element_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "algorithms/execution/half_precision.hpp"

namespace athanor {

namespace {

template <class Element>
Element get(const std::byte* from) {
  Element element{};
  std::memcpy(&element, from, sizeof(element));
  return element;
}

template <class Element>
void put(std::byte* to, Element element) {
  std::memcpy(to, &element, sizeof(element));
}

/// Of a binary format: bits of the significand, the implied one included, and the exponent of its smallest normal
/// number.
struct Format {
  int digits = 0;
  int least_exponent = 0;
};

Format format_of(DataType type) {
  switch (type) {
    case DataType::float16: return {11, -14};
    case DataType::bfloat16: return {8, -126};
    case DataType::float32: return {24, -126};
    case DataType::float64:
    case DataType::int8:
    case DataType::int32:
    case DataType::int64: break;
  }
  return {53, -1022};
}

}  // namespace

double element_value(DataType type, const std::byte* element) {
  switch (type) {
    case DataType::float32: return get<float>(element);
    case DataType::float64: return get<double>(element);
    case DataType::float16: return widen(get<Float16>(element));
    case DataType::bfloat16: return widen(get<BFloat16>(element));
    case DataType::int8: return get<std::int8_t>(element);
    case DataType::int32: return get<std::int32_t>(element);
    case DataType::int64: return static_cast<double>(get<std::int64_t>(element));
  }
  return 0;
}

void put_element(DataType type, std::byte* to, double value) {
  switch (type) {
    case DataType::float32: return put(to, static_cast<float>(value));
    case DataType::float64: return put(to, value);
    case DataType::float16: return put(to, narrow_to_float16(narrow_to_odd(value)));
    case DataType::bfloat16: return put(to, narrow_to_bfloat16(narrow_to_odd(value)));
    case DataType::int8: return put(to, static_cast<std::int8_t>(std::nearbyint(value)));
    case DataType::int32: return put(to, static_cast<std::int32_t>(std::nearbyint(value)));
    case DataType::int64: return put(to, static_cast<std::int64_t>(std::nearbyint(value)));
  }
}

double spacing(DataType type, double value) {
  if (!is_floating_point(type)) { return 1; }
  const Format format = format_of(type);
  const int exponent = value == 0 ? format.least_exponent : std::max(format.least_exponent, std::ilogb(value));
  return std::ldexp(1.0, exponent - (format.digits - 1));
}

}  // namespace athanor
