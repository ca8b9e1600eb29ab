#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units.hpp"

namespace athanor {

/// A type of elements, by the names that scenarios and nccl-tests give it.
struct DataType {
  std::string_view name = "float32";
  std::string_view nccl_name = "float";
  Bytes size{4};
};

std::span<const DataType> data_types();
std::vector<std::string> data_type_names();
/// By the name in scenarios.
std::optional<DataType> find_data_type(std::string_view name);

}  // namespace athanor
