#include "tools/explain/what_if.hpp"

#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/cli/on_processors.hpp"

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
  std::vector<std::optional<ExplainedChange>> found(changes.size());
  std::vector<std::optional<Scenario>> read(changes.size());
  std::vector<std::vector<std::size_t>> turns(1);  // the first: of the same machine
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool same = changes[i].links.empty() && changes[i].settings.empty();
    if (!same) { read[i] = read_again(options, scenario, changes[i]); }
    if (!same && !read[i]) { continue; }
    if (!changes[i].links.empty()) { turns.emplace_back(); }
    (changes[i].links.empty() ? turns.front() : turns.back()).push_back(i);
  }
  on_processors(turns.size(), [&](std::size_t turn) {
    for (const std::size_t i : turns[turn]) {
      try {
        found[i] = simulate(read[i] ? *read[i] : scenario, changes[i]);
      } catch (const SimulationError&) {  // what cannot run does not help
        continue;
      }
    }
  });
  std::vector<ExplainedChange> tried;
  for (std::optional<ExplainedChange>& each : found) {
    if (each) { tried.push_back(std::move(*each)); }
  }
  return tried;
}

}  // namespace athanor
