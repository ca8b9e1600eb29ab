#include "algorithms/schedule/reduction.hpp"

#include <algorithm>
#include <array>

namespace athanor {

namespace {

constexpr std::array kReductions{Reduction::sum, Reduction::product, Reduction::minimum, Reduction::maximum,
                                 Reduction::average};
constexpr std::array kTypes{DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                            DataType::int8,    DataType::int32,   DataType::int64};

template <class Value, std::size_t count>
std::optional<Value> named(const std::array<Value, count>& values, std::string_view text) {
  const auto* const found = std::find_if(values.begin(), values.end(), [&](Value v) { return name(v) == text; });
  return found == values.end() ? std::nullopt : std::optional{*found};
}

}  // namespace

std::string_view name(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return "sum";
    case Reduction::product: return "product";
    case Reduction::minimum: return "minimum";
    case Reduction::maximum: return "maximum";
    case Reduction::average: return "average";
  }
  return "";
}

std::string_view name(DataType type) {
  switch (type) {
    case DataType::float32: return "float32";
    case DataType::float64: return "float64";
    case DataType::float16: return "float16";
    case DataType::bfloat16: return "bfloat16";
    case DataType::int8: return "int8";
    case DataType::int32: return "int32";
    case DataType::int64: return "int64";
  }
  return "";
}

std::string_view nccl_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return "sum";
    case Reduction::product: return "prod";
    case Reduction::minimum: return "min";
    case Reduction::maximum: return "max";
    case Reduction::average: return "avg";
  }
  return "";
}

std::string_view nccl_name(DataType type) {
  switch (type) {
    case DataType::float32: return "float";
    case DataType::float64: return "double";
    case DataType::float16: return "half";
    case DataType::bfloat16:
    case DataType::int8:
    case DataType::int32:
    case DataType::int64: break;
  }
  return name(type);
}

std::optional<DataType> data_type(std::string_view text) { return named(kTypes, text); }

std::span<const Reduction> reductions() { return kReductions; }
std::span<const DataType> data_types() { return kTypes; }

bool is_floating_point(DataType type) {
  switch (type) {
    case DataType::float32:
    case DataType::float64:
    case DataType::float16:
    case DataType::bfloat16: return true;
    case DataType::int8:
    case DataType::int32:
    case DataType::int64: break;
  }
  return false;
}

std::uint32_t element_size(DataType type) {
  switch (type) {
    case DataType::int8: return 1;
    case DataType::float16:
    case DataType::bfloat16: return 2;
    case DataType::float32:
    case DataType::int32: return 4;
    case DataType::float64:
    case DataType::int64: return 8;
  }
  return 0;
}

}  // namespace athanor
