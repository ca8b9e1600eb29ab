#include "models/nccl/tuning/call.hpp"

#include <array>
#include <cstddef>

#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::array<std::string_view, kNcclFunctions> kFunctionNames{"Broadcast", "Reduce", "AllGather",
                                                                      "ReduceScatter", "AllReduce"};
constexpr std::array<std::string_view, 12> kTypeNames{
    "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",   "ncclInt64",      "ncclUint64",
    "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

}  // namespace

std::string_view name(NcclFunction function) { return kFunctionNames.at(static_cast<std::size_t>(function)); }

std::optional<NcclFunction> nccl_function(std::string_view name) {
  for (std::size_t i = 0; i < kNcclFunctions; ++i) {
    if (equal_but_case(kFunctionNames.at(i), name)) { return static_cast<NcclFunction>(i); }
  }
  return {};
}

std::optional<NcclFunction> nccl_function(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce: return NcclFunction::all_reduce;
    case CollectiveKind::reduce_scatter: return NcclFunction::reduce_scatter;
    case CollectiveKind::all_gather: return NcclFunction::all_gather;
    case CollectiveKind::broadcast: return NcclFunction::broadcast;
    case CollectiveKind::reduce: return NcclFunction::reduce;
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive: break;
  }
  return {};
}

std::string_view name(NcclType type) { return kTypeNames.at(static_cast<std::size_t>(type)); }

NcclType nccl_type(DataType type) {
  switch (type) {
    case DataType::float32: return NcclType::float32;
    case DataType::float64: return NcclType::float64;
    case DataType::float16: return NcclType::float16;
    case DataType::bfloat16: return NcclType::bfloat16;
    case DataType::int8: return NcclType::int8;
    case DataType::int32: return NcclType::int32;
    case DataType::int64: break;
  }
  return NcclType::int64;
}

NcclOperation nccl_operation(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return NcclOperation::sum;
    case Reduction::product: return NcclOperation::product;
    case Reduction::minimum: return NcclOperation::minimum;
    case Reduction::maximum: return NcclOperation::maximum;
    case Reduction::average: break;
  }
  return NcclOperation::average;
}

}  // namespace athanor
