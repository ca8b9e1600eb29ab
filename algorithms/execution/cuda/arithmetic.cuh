#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "algorithms/execution/element_operations.hpp"

namespace athanor {

/// Arithmetic of the reduced types. Half precisions are added in float and rounded after every addition, as the CPU
/// executor does, so that results can be compared bit for bit.
template <class T>
struct DeviceArithmetic {
  using Wide = T;
  static __device__ Wide widen(T value) { return value; }
  static __device__ T narrow(Wide value) { return value; }
};
template <>
struct DeviceArithmetic<__half> {
  using Wide = float;
  static __device__ Wide widen(__half value) { return __half2float(value); }
  static __device__ __half narrow(Wide value) { return __float2half_rn(value); }
};
template <>
struct DeviceArithmetic<__nv_bfloat16> {
  using Wide = float;
  static __device__ Wide widen(__nv_bfloat16 value) { return __bfloat162float(value); }
  static __device__ __nv_bfloat16 narrow(Wide value) { return __float2bfloat16_rn(value); }
};
/// Sums of small integers wrap in their own type; the addition itself is done wider.
template <>
struct DeviceArithmetic<std::int8_t> {
  using Wide = std::int32_t;
  static __device__ Wide widen(std::int8_t value) { return value; }
  static __device__ std::int8_t narrow(Wide value) { return static_cast<std::int8_t>(value); }
};

template <class Operation, class T>
__device__ T combine(T a, T b) {
  using A = DeviceArithmetic<T>;
  return A::narrow(Operation::apply(A::widen(a), A::widen(b)));
}

/// The average's division; integers are cut off towards zero.
template <class T>
__device__ T divided(T value, std::uint32_t divisor) {
  using A = DeviceArithmetic<T>;
  return A::narrow(A::widen(value) / static_cast<typename A::Wide>(divisor));
}

}  // namespace athanor
