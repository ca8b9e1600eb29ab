#pragma once

#include <cstddef>
#include <cstdint>

namespace athanor {

/// Elements in memory: element k is k / run * stride + k % run elements after `data`; run 0: contiguous.
template <class Byte>
struct Strided {
  Byte* data = nullptr;
  std::int64_t run = 0;
  std::int64_t stride = 0;

  std::int64_t offset(std::int64_t k) const { return run == 0 ? k : k / run * stride + k % run; }
  /// Of elements k to end-1, how many lie side by side from k on.
  std::int64_t side_by_side(std::int64_t k, std::int64_t end) const {
    return run == 0 || end - k < run - k % run ? end - k : run - k % run;
  }
};
using Source = Strided<const std::byte>;
using Target = Strided<std::byte>;

}  // namespace athanor
