#pragma once

#include <cstdint>

namespace athanor {

// Apart from algorithms/schedule/reduction.hpp for the sake of GPU kernels, which older compilers of CUDA read as
// C++17.

/// What combines the contributions of the ranks. An average is a sum whose result is divided by the number of ranks.
enum class Reduction : std::uint8_t { sum, product, minimum, maximum, average };

enum class DataType : std::uint8_t { float32, float64, float16, bfloat16, int8, int32, int64 };

}  // namespace athanor
