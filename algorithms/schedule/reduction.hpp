#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "algorithms/schedule/data_type.hpp"
#include "sim/units.hpp"

namespace athanor {

/// "sum", ...: the name in scenarios, results and on the command line.
std::string_view name(Reduction reduction);
/// "float32", ...
std::string_view name(DataType type);

/// As nccl-tests calls them: "sum", "prod", "min", "max", "avg"; "float", "half", ...
std::string_view nccl_name(Reduction reduction);
std::string_view nccl_name(DataType type);

/// The inverse of name().
std::optional<DataType> data_type(std::string_view name);

/// All of them, in the order of their declaration.
std::span<const Reduction> reductions();
std::span<const DataType> data_types();

/// float32, float64, float16 and bfloat16, where an addition rounds.
bool is_floating_point(DataType type);

/// Bytes of one element.
std::uint32_t element_size(DataType type);
inline Bytes size_of(DataType type) { return Bytes{element_size(type)}; }

}  // namespace athanor
