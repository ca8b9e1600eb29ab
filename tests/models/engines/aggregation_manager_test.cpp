#include "models/engines/trees/aggregation_manager.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/models/engines/two_tiers.hpp"
#include "topologies/cluster.hpp"
#include "topologies/fabric/fabric_builder.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

std::string top(const Cluster& cluster, const TreeGrant& grant) {
  return grant.refusal ? "refused: " + grant.refusal->reason : cluster.fabric->name(grant.trees.at(0).switches.front());
}

std::string grant_stream(AggregationManager& manager, const Cluster& cluster, std::uint32_t job,
                         const std::vector<VertexId>& hosts) {
  return top(cluster, manager.grant({.job = job, .groups = {hosts}, .streaming = true}));
}

std::string grant_tree(AggregationManager& manager, const Cluster& cluster, std::uint32_t job,
                       const std::vector<VertexId>& hosts) {
  return top(cluster, manager.grant({.job = job, .groups = {hosts}}));
}

std::string code_of(const Cluster& cluster, const EngineLimits& limits) {
  try {
    build_aggregation_tree(*cluster.fabric, cluster.endpoints, limits);
  } catch (const SimulationError& error) { return error.code(); }
  return "";
}

}  // namespace

TEST_CASE("with one streaming tree a switch, jobs on different leaves get different spines, and on one leaf one gets") {
  const Cluster cluster = two_tiers();
  AggregationManager manager(*cluster.fabric, {.streams_per_switch = 1});
  for (std::uint32_t job = 0; job < 4; ++job) {
    const auto hosts = hosts_of(cluster, {2 * job, 2 * job + 1}, 0, 3);
    CHECK(grant_stream(manager, cluster, job, hosts) == "spine" + std::to_string(job));
  }
  CHECK(grant_stream(manager, cluster, 4, hosts_of(cluster, {0, 7}, 3, 1)) ==
        "refused: the streaming tree of leaf0 is held by job 0");
  CHECK(grant_tree(manager, cluster, 4, hosts_of(cluster, {0, 7}, 3, 1)) == "spine0");  // of low latency: not counted
  manager.release(0);
  CHECK(grant_stream(manager, cluster, 5, hosts_of(cluster, {0, 6}, 3, 1)) ==
        "refused: the streaming tree of leaf6 is held by job 3");
  CHECK(grant_stream(manager, cluster, 5, hosts_of(cluster, {0, 1}, 3, 1)) == "spine0");
}

TEST_CASE("where all spines are held, the refusal names who holds the first") {
  const Cluster cluster = two_tiers();
  AggregationManager manager(*cluster.fabric, {.switches = {"spine*"}, .streams_per_switch = 1});
  for (std::uint32_t job = 0; job < 4; ++job) {
    CHECK(grant_stream(manager, cluster, job, hosts_of(cluster, {0, 1}, job, 1)) == "spine" + std::to_string(job));
  }
  manager.release(0);
  manager.release(3);
  CHECK(grant_stream(manager, cluster, 7, hosts_of(cluster, {0, 1})) == "spine0");
  CHECK(grant_stream(manager, cluster, 8, hosts_of(cluster, {0, 1})) == "spine3");
  CHECK(grant_stream(manager, cluster, 9, hosts_of(cluster, {0, 1})) ==
        "refused: the streaming tree of spine0 is held by job 7");
}

TEST_CASE("with one streaming tree a port, jobs that share leaves get one each as long as they share no port") {
  const Cluster cluster = two_tiers();
  AggregationManager manager(*cluster.fabric, {.streams_per_port = 1});
  for (std::uint32_t job = 0; job < 4; ++job) {
    const auto hosts = hosts_of(cluster, {0, 1, 2, 3, 4, 5, 6, 7}, job, 1);
    CHECK(grant_stream(manager, cluster, job, hosts) == "spine" + std::to_string(job));
  }
  CHECK(grant_stream(manager, cluster, 4, hosts_of(cluster, {2, 3}, 1, 1)) ==
        "refused: the streaming tree of the port of leaf2 to host9 is held by job 1");
  manager.release(2);
  CHECK(grant_stream(manager, cluster, 5, hosts_of(cluster, {0, 1}, 2, 1)) == "spine2");
}

TEST_CASE("trees of one job are spread over tops") {
  const Cluster cluster = two_tiers();
  AggregationManager manager(*cluster.fabric, {.streams_per_port = 2});
  const TreeGrant grant =
      manager.grant({.groups = {cluster.endpoints, cluster.endpoints}, .streaming = true, .trees_of_each = 1});
  REQUIRE(grant.trees.size() == 2);
  CHECK(grant.trees[0].switches.front() == device(cluster, "spine0"));
  CHECK(grant.trees[1].switches.front() == device(cluster, "spine1"));
  const TreeGrant low = manager.grant({.job = 1, .groups = {cluster.endpoints}, .trees_of_each = 4});
  std::set<std::uint32_t> tops;
  for (const PlacedTree& tree : low.trees) { tops.insert(tree.switches.front().value); }
  CHECK(tops.size() == 4);
}

TEST_CASE("trees are limited in the subnet, jobs in a switch, children at a node; all trees of a request or none") {
  const Cluster cluster = two_tiers();
  const auto half = hosts_of(cluster, {0, 1, 2, 3});
  AggregationManager few(*cluster.fabric, {.trees = 3, .streams = 2});
  CHECK(grant_stream(few, cluster, 0, half) == "spine0");
  CHECK(grant_stream(few, cluster, 1, half) == "spine1");
  CHECK(grant_stream(few, cluster, 2, half) ==
        "refused: all 2 streaming trees of the subnet are taken, by jobs 0 and 1");
  CHECK(few.grant({.job = 2, .groups = {half}, .trees_of_each = 4}).refusal->reason ==
        "all 3 low-latency trees of the subnet are taken, by job 2");
  CHECK(few.allocations().trees(device(cluster, "leaf0")) == 2);
  CHECK(few.grant({.job = 2, .groups = {half}, .trees_of_each = 3}).trees.size() == 3);

  AggregationManager quota(*cluster.fabric, {.jobs_per_switch = 2});
  CHECK(grant_tree(quota, cluster, 4, half) == "spine0");
  CHECK(grant_tree(quota, cluster, 4, half) == "spine1");
  CHECK(grant_tree(quota, cluster, 6, half) == "spine2");
  CHECK(grant_tree(quota, cluster, 7, hosts_of(cluster, {3, 4})) ==
        "refused: leaf3 has memory for 2 jobs, and jobs 4 and 6 hold it");

  AggregationManager narrow(*cluster.fabric, {.children = 3});
  const TreeGrant refused = narrow.grant({.groups = {hosts_of(cluster, {5})}});
  CHECK(refused.refusal->code == "aggregation-radix");
  CHECK(refused.refusal->reason == "leaf5 would have 4 children, and takes 3");
  CHECK(AggregationManager(*cluster.fabric, {.streams_per_switch = 0})
            .grant({.groups = {half}, .streaming = true})
            .refusal->reason == "leaf0 has no streaming tree");
}

TEST_CASE("a rank hangs on the first switch with an engine on its way, and who has none passes on") {
  const Cluster cluster = two_tiers();
  const auto hosts = hosts_of(cluster, {0, 1, 2});
  const PlacedTree in_leaves = build_aggregation_tree(*cluster.fabric, hosts, {.place = EnginePlace::leaf});
  CHECK(in_leaves.switches.size() == 3);
  CHECK(cluster.fabric->name(in_leaves.switches[0]) == "leaf0");
  CHECK(in_leaves.tree->depth() == 2);
  const PlacedTree in_spines = build_aggregation_tree(*cluster.fabric, hosts, {.switches = {"spine?"}});
  CHECK(in_spines.switches.size() == 1);
  CHECK(in_spines.tree->children(0).size() == 12);
  CHECK(in_spines.tree->depth() == 1);
  const PlacedTree mixed = build_aggregation_tree(*cluster.fabric, hosts, {.switches = {"leaf1", "spine2"}});
  REQUIRE(mixed.switches.size() == 2);
  CHECK(cluster.fabric->name(mixed.switches[0]) == "spine2");
  CHECK(cluster.fabric->name(mixed.switches[1]) == "leaf1");
  CHECK(mixed.tree->node_of(0) == 0);
  CHECK(mixed.tree->node_of(4) == 1);
  CHECK(build_aggregation_tree(*cluster.fabric, hosts_of(cluster, {2}), {.place = EnginePlace::leaf}).switches.size() ==
        1);
}

TEST_CASE("engines in a switch that is not there are an error that names the nearest") {
  const Cluster cluster = two_tiers();
  const auto message = [&](const EngineLimits& limits) {
    try {
      AggregationManager manager(*cluster.fabric, limits);
    } catch (const ScenarioError& error) { return error.problems().front(); }
    return Problem{};
  };
  const Problem problem = message({.switches = {"leaf*", "spin3"}});
  CHECK(problem.code == "no-such-switch");
  CHECK(problem.message == "no switch is called \"spin3\"");
  CHECK(problem.hint == "did you mean \"spine3\"?");
  CHECK(message({.place = EnginePlace::leaf, .switches = {"spine*"}}).message ==
        "no switch next to hosts is called \"spine*\"");
  CHECK(message({.switches = {"*"}}).code.empty());
}

TEST_CASE("where the switches with engines do not reach all ranks there is no common root") {
  FabricBuilder builder;
  const Link cable{10_GBps, 10_GBps, 1_us};
  std::vector<VertexId> hosts;
  for (std::uint32_t i = 0; i < 4; ++i) {
    hosts.push_back(builder.add_named(VertexKind::host, "h" + std::to_string(i)));
  }
  const VertexId a = builder.add_named(VertexKind::leaf, "a");
  const VertexId b = builder.add_named(VertexKind::leaf, "b");
  for (std::uint32_t i = 0; i < 4; ++i) { builder.connect(hosts[i], i < 2 ? a : b, cable); }
  Cluster cluster;
  cluster.fabric = std::make_shared<Fabric>(builder.build());
  cluster.endpoints = hosts;
  CHECK(code_of(cluster, {}) == "no-common-root");
  cluster.endpoints = {hosts[0], hosts[1]};
  CHECK(code_of(cluster, {}).empty());
  CHECK(code_of(cluster, {.switches = {"b"}}) == "no-common-root");
}

TEST_CASE("a tree stays within one of several networks") {
  FabricBuilder builder;
  const Link cable{10_GBps, 10_GBps, 1_us};
  std::vector<VertexId> hosts;
  for (std::uint32_t i = 0; i < 4; ++i) { hosts.push_back(builder.add({VertexKind::host, i, 0})); }
  for (const std::uint8_t side : {std::uint8_t{1}, std::uint8_t{2}}) {
    builder.select_network(side == 1 ? "front" : "back");
    Link own = cable;
    own.network = side;
    const VertexId spine = builder.add({VertexKind::spine, kNoNode, 0, own.network});
    for (std::uint32_t leaf = 0; leaf < 2; ++leaf) {
      const VertexId lowest = builder.add({VertexKind::leaf, kNoNode, leaf, own.network});
      builder.connect(hosts[2 * leaf], lowest, own);
      builder.connect(hosts[2 * leaf + 1], lowest, own);
      builder.connect(lowest, spine, own);
    }
  }
  const Fabric fabric = builder.build();
  for (const std::uint8_t network : {std::uint8_t{1}, std::uint8_t{2}}) {
    const PlacedTree tree = build_aggregation_tree(fabric, hosts, {}, network);
    CHECK(tree.switches.size() == 3);
    for (const VertexId at : tree.switches) { CHECK(fabric.vertex(at).network == network); }
  }
}
