#pragma once

#include <string>
#include <vector>

#include "tools/compare/load_input.hpp"

namespace athanor {

/// Scenarios as they are and with each of these changes, all simulated; labels say which. A change is settings as of
/// --set, linked by ';', or the name of an engine, which then is in every switch of the network; where the costs are
/// NCCL's, its CollNet is on. None: interrupted. Throws UsageError for files that are not scenarios and for unknown
/// engines, and as load_input() for what the changes make of the scenario.
std::optional<std::vector<LoadedInput>> load_with_changes(const std::vector<std::string>& changes,
                                                          const ComparisonOptions& options, const CommonOptions& common,
                                                          const Streams& streams);

}  // namespace athanor
