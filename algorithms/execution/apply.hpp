#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "algorithms/execution/elements.hpp"
#include "algorithms/schedule.hpp"

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

/// What the arithmetic of a whole execution has in common.
struct Reducer {
  ElementKernels kernels;
  std::uint32_t ranks = 1;  ///< by which an average is divided
};

/// The value of a primitive, written to every target: the sources folded from left to right, then finished where
/// `finish` says so. In one pass: a block is taken through all sources and to all targets while it is in the cache.
/// A target may coincide with a source, element by element, but not overlap it otherwise. Without sources nothing is
/// written.
void apply(const Reducer& reducer, std::span<const Source> sources, std::span<const Target> targets, Elements count,
           bool finish);

}  // namespace athanor
