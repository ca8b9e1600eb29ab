#include "tools/explain/what_if.hpp"

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

std::string_view plural(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink: return "NVLinks";
    case LinkKind::c2c: return "chip-to-chip links";
    case LinkKind::pcie: return "PCIe links";
    case LinkKind::socket: return "links between sockets";
    case LinkKind::network: return "network links";
  }
  return "";
}

std::optional<Scenario> read_again(const ExplainOptions& options, const Scenario& scenario, const WhatIf& change) {
  ScenarioChanges changes = changes_of(options.scenario);
  changes.links = change.links;
  changes.traces = scenario.traces;
  changes.settings.insert(changes.settings.end(), change.settings.begin(), change.settings.end());
  Problems problems;
  try {
    Scenario changed = read_scenario(scenario.path, options.common.library, changes, problems);
    if (problems.empty()) { return changed; }
  } catch (const UsageError&) {  // a setting below a key that is not there
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::vector<WhatIf> faster_links(const std::set<LinkKind>& kinds) {
  constexpr Ratio kTwice{2, 1};
  constexpr Ratio kHalf{1, 2};
  constexpr Ratio kSame{1, 1};
  std::vector<WhatIf> changes;
  WhatIf nearer{.change = "half the latency of all links"};
  for (const LinkKind kind : kinds) {
    changes.push_back({.change = fmt::format("{} twice as fast", plural(kind)), .links = {{kind, kTwice, kSame}}});
    nearer.links.push_back({kind, kSame, kHalf});
  }
  if (kinds.contains(LinkKind::network) && kinds.contains(LinkKind::pcie)) {
    changes.push_back({.change = "network and PCIe links twice as fast",
                       .links = {{LinkKind::network, kTwice, kSame}, {LinkKind::pcie, kTwice, kSame}}});
  }
  if (!kinds.empty()) { changes.push_back(std::move(nearer)); }
  return changes;
}

std::vector<ExplainedChange> try_changes(
    const ExplainOptions& options, const Scenario& scenario, const std::vector<WhatIf>& changes,
    const std::function<std::optional<ExplainedChange>(const Scenario&, const WhatIf&)>& simulate) {
  std::vector<ExplainedChange> tried;
  for (const WhatIf& change : changes) {
    const bool same = change.links.empty() && change.settings.empty();
    const std::optional<Scenario> changed = same ? std::nullopt : read_again(options, scenario, change);
    if (!same && !changed) { continue; }
    try {
      if (auto found = simulate(same ? scenario : *changed, change)) { tried.push_back(std::move(*found)); }
    } catch (const SimulationError&) {  // what cannot run does not help
      continue;
    }
  }
  return tried;
}

}  // namespace athanor
