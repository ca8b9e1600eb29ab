#include "models/jobs/timeline_rows.hpp"

#include <map>

#include <fmt/core.h>

namespace athanor {

namespace {

/// "leaf 3"; "nodes" or "cluster" where there is no such tier.
std::string domain_name(const NodeList& nodes, std::size_t tier, NodeId node, std::string_view otherwise) {
  if (tier >= nodes.tiers.size()) { return std::string(otherwise); }
  return fmt::format("{} {}", nodes.tiers[tier].name, nodes.tiers[tier].domains[node]);
}

TimelineRows rows_of_nodes(const NodeList& nodes) {
  TimelineRows rows{"node", {}, {}, {}};
  for (const NodeId node : nodes.nodes.ids()) {
    rows.names.push_back(nodes.name(node));
    rows.groups.push_back(domain_name(nodes, 0, node, "nodes"));
    rows.row_of.push_back(node.value);
  }
  return rows;
}

/// Of the domains of a tier; behind the last one of all nodes.
TimelineRows rows_of_tier(const NodeList& nodes, std::size_t tier) {
  TimelineRows rows{tier < nodes.tiers.size() ? nodes.tiers[tier].name : "cluster", {}, {}, {}};
  rows.names.resize(tier < nodes.tiers.size() ? nodes.tiers[tier].count : 1);
  rows.groups.resize(rows.names.size());
  for (const NodeId node : nodes.nodes.ids()) {
    const std::uint32_t domain = tier < nodes.tiers.size() ? nodes.tiers[tier].domains[node] : 0;
    rows.row_of.push_back(domain);
    rows.names[domain] = domain_name(nodes, tier, node, "all nodes");
    rows.groups[domain] = domain_name(nodes, tier + 1, node, "cluster");
  }
  return rows;
}

}  // namespace

std::vector<RowStay> stays_on(const TimelineRows& rows, const JobsRun& run) {
  std::vector<RowStay> stays;
  for (const JobStint& stint : run.stints) {
    std::map<std::uint32_t, std::uint32_t> gpus;
    for (const NodeShare& share : stint.where) { gpus[rows.row_of[share.node]] += share.gpus.count(); }
    for (const auto& [row, there] : gpus) { stays.push_back({&stint, row, there}); }
  }
  return stays;
}

TimelineRows timeline_rows(const JobsRun& run, const NodeList& nodes, std::size_t most) {
  TimelineRows rows = rows_of_nodes(nodes);
  for (std::size_t tier = 0; tier <= nodes.tiers.size() && stays_on(rows, run).size() > most; ++tier) {
    rows = rows_of_tier(nodes, tier);
  }
  return rows;
}

}  // namespace athanor
