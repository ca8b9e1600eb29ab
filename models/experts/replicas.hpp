#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// Where experts are when the busiest of them have replicas: by expert, the ranks that hold it. One after the other,
/// `redundant` further replicas go to the expert with most load for each of its replicas; then replicas, the busiest
/// first, go to the rank with least load that has room: of all, as many are on each rank. As DeepSeek's EPLB balances
/// experts without regard to nodes (github.com/deepseek-ai/EPLB). Without any, experts stay in their order.
///
/// `loads`: by expert, in any unit. Of equal ones the first counts. Requires that ranks divide experts + redundant.
std::vector<std::vector<std::uint32_t>> place_experts(const std::vector<double>& loads, std::uint32_t redundant,
                                                      std::uint32_t ranks);

}  // namespace athanor
