#pragma once

#include <span>
#include <string>
#include <variant>

#include "models/engines/trees/growing_tree.hpp"

namespace athanor {

/// Why there is no tree. Code: "no-switch", "no-common-root", "aggregation-radix", or "engines-exhausted" where others
/// hold what it needs.
struct TreeRefusal {
  std::string code;
  std::string reason;  ///< in words, with who holds what
};

/// Builds one tree for the ranks on `endpoints`, whose top is a switch with an engine that has the least distance to
/// the farthest of the switches next to them. Of several the one that is nearest to all together, of those the one that
/// is the top of the fewest trees, and of those the first; where that tree has no room, the next of those with the same
/// least distance. What is refused may fit in another way, for ways to a top are chosen switch by switch. Requires at
/// least one endpoint.
std::variant<GrownTree, TreeRefusal> build_tree(const EngineState& state, std::uint32_t job, bool streaming,
                                                std::span<const VertexId> endpoints);

}  // namespace athanor
