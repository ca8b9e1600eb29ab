#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "tools/explain/explain_options.hpp"
#include "tools/explain/explanation_parts.hpp"

namespace athanor {

/// Something else about a machine or a plan, that may shorten a time.
struct WhatIf {
  std::string change;                      ///< "network links twice as fast"
  std::vector<LinkScaling> links = {};     ///< of all clusters
  std::vector<std::string> settings = {};  ///< of the scenario, as of --set
  double computing = 1;                    ///< times what computing takes; of workloads
  bool free_communication = false;         ///< of workloads
};

/// Of the links of these kinds: each kind twice as fast, the network together with PCIe where both are there, and all
/// of them at half the latency.
std::vector<WhatIf> faster_links(const std::set<LinkKind>& kinds);

/// The scenario's only case, read again as the options say with each of these, and what it takes then. What the
/// scenario does not allow is left out. `simulate`: none leaves it out, too; its SimulationErrors do as well. It is
/// called by several threads, but by one after the other for changes that leave links as they are.
std::vector<ExplainedChange> try_changes(
    const ExplainOptions& options, const Scenario& scenario, const std::vector<WhatIf>& changes,
    const std::function<std::optional<ExplainedChange>(const Scenario&, const WhatIf&)>& simulate);

}  // namespace athanor
