#include "tools/scenario/data_type.hpp"

#include <algorithm>
#include <array>

namespace athanor {

namespace {

constexpr std::array<DataType, 12> kTypes{{{"float32", "float", Bytes{4}},
                                           {"float64", "double", Bytes{8}},
                                           {"float16", "half", Bytes{2}},
                                           {"bfloat16", "bfloat16", Bytes{2}},
                                           {"float8_e4m3", "f8e4m3", Bytes{1}},
                                           {"float8_e5m2", "f8e5m2", Bytes{1}},
                                           {"int8", "int8", Bytes{1}},
                                           {"uint8", "uint8", Bytes{1}},
                                           {"int32", "int32", Bytes{4}},
                                           {"uint32", "uint32", Bytes{4}},
                                           {"int64", "int64", Bytes{8}},
                                           {"uint64", "uint64", Bytes{8}}}};

}  // namespace

std::span<const DataType> data_types() { return kTypes; }

std::vector<std::string> data_type_names() {
  std::vector<std::string> names;
  for (const DataType& type : kTypes) { names.emplace_back(type.name); }
  return names;
}

std::optional<DataType> find_data_type(std::string_view name) {
  const auto* found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const DataType& type) { return type.name == name; });
  return found == kTypes.end() ? std::nullopt : std::optional(*found);
}

}  // namespace athanor
