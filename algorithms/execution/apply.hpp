#pragma once

#include <cstddef>
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
/// The same for a primitive of a schedule: operands before messages. Engines do what they do in place of it.
void apply(const Reducer& reducer, const PrimitivePlace& place, const Primitive& primitive,
           std::span<const Source> sources, std::span<const Target> targets);
/// What a whole execution of `ranks` reduces by. Throws UsageError where engines cannot do the arithmetic.
Reducer make_reducer(DataType type, Reduction reduction, const EngineArithmetic& engines, std::uint32_t ranks);

/// Where an agent's buffers begin; null where they hold nothing.
struct AgentMemory {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;

  /// The cells' elements, of `size` bytes each.
  Source source(const Cells& cells, std::size_t size) const {
    switch (cells.buffer) {
      case Buffer::input: return strided(input, cells, size);
      case Buffer::output: return strided<const std::byte>(output, cells, size);
      case Buffer::scratch: break;
    }
    return strided<const std::byte>(scratch, cells, size);
  }
  /// Requires that the cells do not lie in the input.
  Target target(const Cells& cells, std::size_t size) const {
    return strided(cells.buffer == Buffer::output ? output : scratch, cells, size);
  }

 private:
  template <class Byte>
  static Strided<Byte> strided(Byte* buffer, const Cells& cells, std::size_t size) {
    return {buffer + cells.first.count() * static_cast<std::int64_t>(size), cells.run.count(), cells.stride.count()};
  }
};

}  // namespace athanor
