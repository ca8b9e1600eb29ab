#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/workload/collective_matcher.hpp"
#include "models/workload/program.hpp"

namespace athanor {

/// Who waits for whom in a workload that cannot go on. Requires that some program has operations left.
std::string describe_stuck(const Workload& workload, const std::vector<std::unique_ptr<Program>>& programs,
                           const CollectiveMatcher& meetings);

}  // namespace athanor
