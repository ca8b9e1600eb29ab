#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "algorithms/execution/elements.hpp"
#include "algorithms/execution/engine_reducer.hpp"
#include "algorithms/execution/strided.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// What the arithmetic of a whole execution has in common.
struct Reducer {
  ElementKernels kernels;
  std::uint32_t ranks = 1;                              ///< by which an average is divided
  std::optional<EngineReducer> engines = std::nullopt;  ///< what agents beyond the ranks do; none: the same
};

/// The value of a primitive, written to every target: the sources folded from left to right, then finished where
/// `finish` says so. In one pass: a block is taken through all sources and to all targets while it is in the cache.
/// A target may coincide with a source, element by element, but not overlap it otherwise. Without sources nothing is
/// written.
void apply(const Reducer& reducer, std::span<const Source> sources, std::span<const Target> targets, Elements count,
           bool finish);

}  // namespace athanor
