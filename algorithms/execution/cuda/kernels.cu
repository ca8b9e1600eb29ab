#include "algorithms/execution/cuda/interpreter.cuh"
#include "algorithms/execution/cuda/kernels.hpp"

// C++17: what compilers of CUDA 11 take.
namespace athanor {

namespace {

__global__ void wait_for_go(const DeviceView view) {
  while (!raised(view.go) && !raised(view.stop)) {}
}

template <class T>
const void* kernel_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::average: return reinterpret_cast<const void*>(&run_lanes<T, Adding>);
    case Reduction::product: return reinterpret_cast<const void*>(&run_lanes<T, Multiplying>);
    case Reduction::minimum: return reinterpret_cast<const void*>(&run_lanes<T, TakingMinimum>);
    case Reduction::maximum: return reinterpret_cast<const void*>(&run_lanes<T, TakingMaximum>);
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

const void* gate_kernel() { return reinterpret_cast<const void*>(&wait_for_go); }

}  // namespace athanor
