#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithms/schedule/reduction.hpp"

namespace athanor {

/// Arithmetic on arrays of one type, vectorised for the processor at hand.
///
/// float16 and bfloat16 are widened to float32 for each operation and rounded back, to nearest with ties to even.
/// Integers wrap. Where one of two values is NaN, minimum and maximum give either; of zeros of unlike sign too.
struct ElementKernels {
  std::size_t size = 0;  ///< bytes of one element

  /// to[i] = left[i] (+) right[i] for i < count. `to` may be `left` or `right`; otherwise nothing overlaps.
  void (*reduce)(void* to, const void* left, const void* right, std::size_t count) = nullptr;
  /// to[i] = from[i] divided by `ranks` where the reduction is the average: floating point rounded to nearest,
  /// integers truncated towards zero. Null for the other reductions, which have nothing to finish. `to` may be `from`;
  /// otherwise nothing overlaps.
  void (*finish)(void* to, const void* from, std::size_t count, std::uint32_t ranks) = nullptr;
};

/// Instructions that kernels are compiled for; all give the same results.
enum class InstructionSet : std::uint8_t { baseline, avx2, avx512 };

/// The best that this processor and operating system carry out.
InstructionSet instruction_set();

/// Requires a set that is not better than instruction_set().
ElementKernels element_kernels(DataType type, Reduction reduction, InstructionSet set);
inline ElementKernels element_kernels(DataType type, Reduction reduction) {
  return element_kernels(type, reduction, instruction_set());
}

}  // namespace athanor
