#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/collective_timer.hpp"
#include "sim/error.hpp"
#include "tools/scenario/nccl_section.hpp"

namespace athanor {

struct Case;

/// NCCL on any endpoints of a case's cluster, found once for all that are in their nodes alike.
using NcclSource = std::function<std::shared_ptr<const NcclRuntime>(const std::vector<std::uint32_t>&)>;

/// As take_nccl() for groups that are known only while a workload is made. The source throws ScenarioError where NCCL
/// would end with an error. The case is copied; its cluster stays shared.
NcclSource nccl_of_groups(const std::optional<NcclSection>& section, const Place& place, const std::string& directory,
                          const Case& scenario_case);

/// How the calls of a case's workload are priced: by NCCL where its profile has it, else by rings, pairwise exchanges
/// and messages, or by the engines of the network's switches where these are faster. Borrows the case.
PricingSettings pricing_of(const Case& scenario_case, const SimulationOptions& options);

}  // namespace athanor
