#include <algorithm>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "models/engines/trees/aggregation_manager.hpp"
#include "sim/random.hpp"
#include "tests/models/engines/two_tiers.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

using Granted = std::map<std::uint32_t, std::vector<PlacedTree>>;  ///< streaming trees by job

/// What the trees hold, counted again from nothing but themselves: with two tiers and engines everywhere, all nodes
/// that are joined are neighbours.
struct NaiveCounts {
  std::map<VertexId, std::uint32_t> streams;
  std::map<std::pair<VertexId, VertexId>, std::uint32_t> ports;
  std::map<VertexId, std::map<std::uint32_t, std::uint32_t>> jobs;
  std::uint32_t trees = 0;

  NaiveCounts(const Granted& granted, const std::map<std::uint32_t, std::vector<VertexId>>& hosts) {
    for (const auto& [job, trees_of_job] : granted) {
      for (const PlacedTree& placed : trees_of_job) { add(job, placed, hosts.at(job)); }
    }
  }
  void add(std::uint32_t job, const PlacedTree& placed, const std::vector<VertexId>& hosts) {
    ++trees;
    for (std::uint32_t node = 0; node < placed.tree->nodes(); ++node) {
      const VertexId at = placed.switches[node];
      ++streams[at];
      ++jobs[at][job];
      if (node == 0) { continue; }
      const VertexId above = placed.switches[placed.tree->parent(node)];
      ++ports[{at, above}];
      ++ports[{above, at}];
    }
    for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) {
      ++ports[{placed.switches[placed.tree->node_of(rank)], hosts[rank]}];
    }
  }
  bool within(const EngineLimits& limits) const {
    const auto fits = [](const auto& counts, std::uint32_t most) {
      return std::all_of(counts.begin(), counts.end(), [&](const auto& entry) { return entry.second <= most; });
    };
    return trees <= limits.streams && fits(streams, limits.streams_per_switch) &&
           fits(ports, limits.streams_per_port) && std::all_of(jobs.begin(), jobs.end(), [&](const auto& entry) {
             return entry.second.size() <= limits.jobs_per_switch;
           });
  }
};

/// Is there a spine below which a tree over these leaves would keep the limits?
bool could_fit(const Cluster& cluster, const Granted& granted,
               const std::map<std::uint32_t, std::vector<VertexId>>& hosts, std::uint32_t job,
               const std::vector<std::uint32_t>& leaves, const EngineLimits& limits) {
  for (std::uint32_t spine = 0; spine < (leaves.size() == 1 ? 1 : kSpines); ++spine) {
    PlacedTree tree;
    std::vector<std::uint32_t> parents{0};
    std::vector<std::uint32_t> nodes_of_ranks;
    if (leaves.size() > 1) { tree.switches.push_back(device(cluster, "spine" + std::to_string(spine))); }
    for (const std::uint32_t leaf : leaves) {
      const auto node = static_cast<std::uint32_t>(tree.switches.size());
      tree.switches.push_back(device(cluster, "leaf" + std::to_string(leaf)));
      if (node > 0) { parents.push_back(0); }
      for (std::uint32_t i = 0; i < hosts.at(job).size() / leaves.size(); ++i) { nodes_of_ranks.push_back(node); }
    }
    tree.tree = std::make_shared<const AggregationTree>(parents, nodes_of_ranks);
    Granted more = granted;
    more[job].push_back(tree);
    if (NaiveCounts(more, hosts).within(limits)) { return true; }
  }
  return false;
}

}  // namespace

// The law: what is granted keeps every limit, and what is refused would have broken one below every spine.
TEST_CASE("limits hold under random grants and releases, nothing is refused without need, and release gives all back") {
  const Cluster cluster = two_tiers();
  const EngineLimits all[] = {{.streams_per_switch = 1},
                              {.streams_per_switch = 2},
                              {.streams_per_port = 1},
                              {.streams = 3, .streams_per_port = 2},
                              {.streams_per_switch = 3, .streams_per_port = 1, .jobs_per_switch = 2}};
  std::uint32_t refusals = 0;
  for (const EngineLimits& limits : all) {
    RandomStream random(7, "grants");
    AggregationManager manager(*cluster.fabric, limits);
    Granted granted;
    std::map<std::uint32_t, std::vector<VertexId>> hosts;
    for (std::uint32_t step = 0; step < 300; ++step) {
      const auto job = static_cast<std::uint32_t>(random.below(6));
      if (granted.contains(job)) {
        manager.release(job);
        granted.erase(job);
        continue;
      }
      std::vector<std::uint32_t> leaves{0, 1, 2, 3, 4, 5, 6, 7};
      random.shuffle(leaves);
      leaves.resize(1 + random.below(3));
      std::sort(leaves.begin(), leaves.end());
      hosts[job] = hosts_of(cluster, leaves, static_cast<std::uint32_t>(random.below(3)),
                            1 + static_cast<std::uint32_t>(random.below(2)));
      const bool expected = could_fit(cluster, granted, hosts, job, leaves, limits);
      TreeGrant grant = manager.grant({.job = job, .groups = {hosts[job]}, .streaming = true});
      CAPTURE(step);
      CHECK(expected == !grant.refusal);
      refusals += grant.refusal ? 1 : 0;
      if (!grant.refusal) { granted[job] = std::move(grant.trees); }
      CHECK(NaiveCounts(granted, hosts).within(limits));
    }
    for (std::uint32_t job = 0; job < 6; ++job) { manager.release(job); }
    for (VertexId v{0}; v.value < cluster.fabric->vertices(); ++v.value) {
      CHECK(manager.allocations().trees(v) + manager.allocations().tops(v) == 0);
    }
  }
  CHECK(refusals > 100);
}
