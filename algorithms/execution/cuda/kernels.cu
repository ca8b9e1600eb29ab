#include "algorithms/execution/cuda/interpreter.cuh"
#include "algorithms/execution/cuda/kernels.hpp"

namespace athanor {

namespace {

template <class T>
const void* kernel_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average: return reinterpret_cast<const void*>(&run_lanes<T, Sum>);
    case Reduction::product: return reinterpret_cast<const void*>(&run_lanes<T, Product>);
    case Reduction::minimum: return reinterpret_cast<const void*>(&run_lanes<T, Minimum>);
    case Reduction::maximum: return reinterpret_cast<const void*>(&run_lanes<T, Maximum>);
  }
  return nullptr;
}

}  // namespace

const void* interpreter_kernel(DataType type, Reduction reduction) {
  switch (type) {
    case DataType::float32: return kernel_of<float>(reduction);
    case DataType::float64: return kernel_of<double>(reduction);
    case DataType::float16: return kernel_of<__half>(reduction);
    case DataType::bfloat16: return kernel_of<__nv_bfloat16>(reduction);
    case DataType::int8: return kernel_of<std::int8_t>(reduction);
    case DataType::int32: return kernel_of<std::int32_t>(reduction);
    case DataType::int64: return kernel_of<std::int64_t>(reduction);
  }
  return nullptr;
}

}  // namespace athanor
