#pragma once

#include "models/serving/iteration_law.hpp"

namespace athanor::testing {

using namespace athanor::literals;

/// Numbers that are easy to add up: 1 ms and 10 us for each token, 1 us for each sample, 1 ns for each attended token,
/// and for each pair of a chunk's tokens.
inline IterationLaw simple_law() {
  return {[](std::uint32_t tokens) { return 1_ms + 10_us * static_cast<std::int64_t>(tokens); },
          [](std::uint32_t samples) { return 1_us * static_cast<std::int64_t>(samples); }, 1_ns,
          [](std::uint32_t past, std::uint32_t tokens) {
            const std::int64_t n = tokens;
            return 1_ns * (n * past + n * (n + 1) / 2);
          }};
}

}  // namespace athanor::testing
