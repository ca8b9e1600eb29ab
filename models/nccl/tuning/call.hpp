#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "sim/units.hpp"

namespace athanor {

/// The collectives that NCCL tunes; all others are sends and receives. In the order of its tables.
enum class NcclFunction : std::uint8_t { broadcast, reduce, all_gather, reduce_scatter, all_reduce };
constexpr std::size_t kNcclFunctions = 5;

/// As NCCL_ALGO takes it before a colon: "AllReduce", ...
std::string_view name(NcclFunction function);
/// The inverse, whatever the case of letters.
std::optional<NcclFunction> nccl_function(std::string_view name);
/// The function that carries a kind of collective out; none: it is made of sends and receives.
std::optional<NcclFunction> nccl_function(CollectiveKind kind);

enum class NcclType : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8_e4m3,
  float8_e5m2
};
/// As NCCL's messages write it: "ncclFloat32", ...
std::string_view name(NcclType type);
NcclType nccl_type(DataType type);

enum class NcclOperation : std::uint8_t { sum, product, maximum, minimum, average, premultiplied_sum };
NcclOperation nccl_operation(Reduction reduction);

/// One call of a collective.
struct NcclCall {
  NcclFunction function = NcclFunction::all_reduce;
  Bytes bytes;  ///< of the largest buffer of one rank: the vector, or all ranks' parts together
  NcclType type = NcclType::float32;
  NcclOperation operation = NcclOperation::sum;
  /// Calls of one group that queue up behind each other: ceil(calls / channels).
  std::uint32_t pipelined = 1;
};

}  // namespace athanor
