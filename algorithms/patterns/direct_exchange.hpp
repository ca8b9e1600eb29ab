#pragma once

#include <optional>
#include <string>

#include <fmt/core.h>

#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// Why so many ranks should not all be connected with each other at once, or nothing; for Algorithm::refuses_many.
inline std::optional<std::string> refuse_all_at_once(const Collective& collective, const Layout&) {
  constexpr std::uint32_t kMost = 256;
  if (collective.ranks <= kMost) { return std::nullopt; }
  return fmt::format("it sends to all others at once, which is for the ranks of one node: {} are more than {}",
                     collective.ranks, kMost);
}

}  // namespace athanor
