#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Nodes below leaves below pods, of which some GPUs are taken.
struct Tree {
  NodeList nodes;
  JobList jobs;

  std::uint32_t leaf(NodeId node) const { return nodes.tiers[0].domains[node]; }
  std::uint32_t pod(NodeId node) const { return nodes.tiers[1].domains[node]; }
};

Tree tree_of(const std::vector<std::vector<std::uint32_t>>& nodes_of_leaves_of_pods, std::uint16_t gpus) {
  Tree tree;
  tree.nodes.gpu_types = {"GPU"};
  tree.nodes.tiers.resize(2);
  tree.nodes.tiers[0].name = "leaf";
  tree.nodes.tiers[1].name = "spine";
  std::uint32_t leaf = 0;
  for (std::uint32_t pod = 0; pod < nodes_of_leaves_of_pods.size(); ++pod) {
    for (const std::uint32_t nodes : nodes_of_leaves_of_pods[pod]) {
      for (std::uint32_t node = 0; node < nodes; ++node) {
        tree.nodes.nodes.push_back({.gpus = gpus});
        tree.nodes.tiers[0].domains.push_back(leaf);
        tree.nodes.tiers[1].domains.push_back(pod);
      }
      ++leaf;
    }
  }
  tree.nodes.tiers[0].count = leaf;
  tree.nodes.tiers[1].count = static_cast<std::uint32_t>(nodes_of_leaves_of_pods.size());
  return tree;
}

Tree random_tree(std::mt19937_64& random) {
  std::vector<std::vector<std::uint32_t>> pods(1 + random() % 3);
  for (auto& leaves : pods) {
    leaves.resize(1 + random() % 3);
    for (std::uint32_t& nodes : leaves) { nodes = static_cast<std::uint32_t>(1 + random() % 3); }
  }
  return tree_of(pods, 4);
}

/// The rooms of domains, added up.
template <class DomainOf>
std::map<std::uint32_t, std::uint32_t> rooms(const Tree& tree, const Inventory& inventory, const Demand& demand,
                                             DomainOf domain_of) {
  std::map<std::uint32_t, std::uint32_t> sums;
  for (const NodeId node : tree.nodes.nodes.ids()) { sums[domain_of(node)] += inventory.room(node, demand); }
  return sums;
}

/// The least number of domains with so much room together, by trying all sets of them.
std::size_t fewest(const std::map<std::uint32_t, std::uint32_t>& rooms, std::uint32_t tasks) {
  std::vector<std::uint32_t> list;
  for (const auto& [domain, room] : rooms) { list.push_back(room); }
  std::size_t best = SIZE_MAX;
  for (std::uint32_t set = 0; set < 1U << list.size(); ++set) {
    std::uint32_t sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if ((set >> i & 1U) == 0) { continue; }
      sum += list[i];
      ++count;
    }
    if (sum >= tasks) { best = std::min(best, count); }
  }
  return best;
}

template <class DomainOf>
std::size_t spanned(const Allocation& where, DomainOf domain_of) {
  std::set<std::uint32_t> domains;
  for (const NodeShare& share : where) { domains.insert(domain_of(share.node)); }
  return domains.size();
}

/// Takes some GPUs of each node.
void take_some(const Tree& tree, Inventory& inventory, std::mt19937_64& random) {
  for (const NodeId node : tree.nodes.nodes.ids()) {
    const auto taken = static_cast<std::uint16_t>(random() % 5);
    if (taken > 0) { inventory.take(inventory.share(node, 0, {.gpus = taken}, 1), {.gpus = taken}); }
  }
}

std::uint32_t tasks_of(const Allocation& where) {
  std::uint32_t tasks = 0;
  for (const NodeShare& share : where) { tasks += share.tasks; }
  return tasks;
}

}  // namespace

TEST_CASE("topology: no more pods, leaves or nodes than any set of them needs, by trying all") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 400; ++round) {
    const Tree tree = random_tree(random);
    Inventory inventory(tree.nodes, tree.jobs);
    take_some(tree, inventory, random);
    const Demand each{.gpus = static_cast<std::uint16_t>(1 + random() % 2)};
    const auto tasks = static_cast<std::uint32_t>(1 + random() % 20);
    const auto leaf = [&](NodeId node) { return tree.leaf(node); };
    const auto pod = [&](NodeId node) { return tree.pod(node); };
    const auto of_pods = rooms(tree, inventory, each, pod);
    const auto of_leaves = rooms(tree, inventory, each, leaf);
    const Inventory before = inventory;
    const auto where = placement_of("topology", tree.jobs, tree.nodes)->place({{tasks, each}}, inventory);
    REQUIRE(where.has_value() == (fewest(of_pods, tasks) != SIZE_MAX));
    if (!where) { continue; }
    CHECK(tasks_of(*where) == tasks);
    CHECK(spanned(*where, pod) == fewest(of_pods, tasks));
    if (fewest(of_leaves, tasks) == 1) { CHECK(spanned(*where, leaf) == 1); }
    // within each domain that it uses, what it has there needs no fewer parts
    for (const auto& [used_pod, room] : of_pods) {
      std::map<std::uint32_t, std::uint32_t> leaves_here;
      Allocation here;
      for (const NodeId node : tree.nodes.nodes.ids()) {
        if (tree.pod(node) == used_pod) { leaves_here[tree.leaf(node)] += before.room(node, each); }
      }
      for (const NodeShare& share : *where) {
        if (tree.pod(share.node) == used_pod) { here.push_back(share); }
      }
      CHECK(spanned(here, leaf) == fewest(leaves_here, tasks_of(here)));
    }
    for (const auto& [used_leaf, room] : of_leaves) {
      std::map<std::uint32_t, std::uint32_t> nodes_here;
      Allocation here;
      for (const NodeId node : tree.nodes.nodes.ids()) {
        if (tree.leaf(node) == used_leaf) { nodes_here[node.value] = before.room(node, each); }
      }
      for (const NodeShare& share : *where) {
        if (tree.leaf(share.node) == used_leaf) { here.push_back(share); }
      }
      CHECK(spanned(here, [](NodeId node) { return node.value; }) == fewest(nodes_here, tasks_of(here)));
    }
  }
}

TEST_CASE("topology: of leaves that take a job the fullest, and the tightest for what is over") {
  Tree tree = tree_of({{2, 2, 2}}, 4);
  Inventory inventory(tree.nodes, tree.jobs);
  inventory.take(inventory.share(NodeId{2}, 0, {.gpus = 2}, 1), {.gpus = 2});
  const auto topology = placement_of("topology", tree.jobs, tree.nodes);
  const auto small = topology->place({{6, {.gpus = 1}}}, inventory);
  CHECK(spanned(*small, [&](NodeId node) { return tree.leaf(node); }) == 1);
  CHECK(tree.leaf((*small)[0].node) == 1);
  inventory.give_back(*small, {{6, {.gpus = 1}}});
  const auto large = topology->place({{14, {.gpus = 1}}}, inventory);
  std::map<std::uint32_t, std::uint32_t> tasks;
  for (const NodeShare& share : *large) { tasks[tree.leaf(share.node)] += share.tasks; }
  CHECK(tasks == std::map<std::uint32_t, std::uint32_t>{{0, 8}, {1, 6}});
}

TEST_CASE("topology required: a job never leaves the tier, and waits only where no domain of it has room") {
  std::mt19937_64 random(9);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    const Tree tree = random_tree(random);
    Inventory inventory(tree.nodes, tree.jobs);
    take_some(tree, inventory, random);
    const Shape shape{{static_cast<std::uint32_t>(1 + random() % 8), {.gpus = 1}}};
    const bool leaf = random() % 2 == 0;
    const auto domain = [&](NodeId node) { return leaf ? tree.leaf(node) : tree.pod(node); };
    const bool fits = fewest(rooms(tree, inventory, shape[0].each, domain), shape[0].tasks) == 1;
    const std::uint32_t free = inventory.free_gpus();
    const auto where =
        placement_of("topology", tree.jobs, tree.nodes,
                     leaf ? R"({"mode": "required", "highest_tier": 1})" : R"({"mode": "required", "highest_tier": 2})")
            ->place(shape, inventory);
    CHECK(where.has_value() == fits);
    refused += fits ? 0 : 1;
    if (where) { CHECK(spanned(*where, domain) == 1); }
    if (!where) { CHECK(inventory.free_gpus() == free); }
  }
  CHECK(refused > 40);
}

TEST_CASE("topology: segments lie below one leaf each, and fit whenever leaves have room for them one by one") {
  std::mt19937_64 random(13);
  int placed = 0;
  for (int round = 0; round < 400; ++round) {
    const Tree tree = random_tree(random);
    Inventory inventory(tree.nodes, tree.jobs);
    take_some(tree, inventory, random);
    const std::uint32_t segments = static_cast<std::uint32_t>(1 + random() % 4);
    const Shape shape{{3 * segments, {.gpus = 1}}};
    std::uint32_t fitting = 0;
    for (const auto& [leaf, room] :
         rooms(tree, inventory, shape[0].each, [&](NodeId node) { return tree.leaf(node); })) {
      fitting += room / 3;
    }
    const auto where = placement_of("topology", tree.jobs, tree.nodes, R"({"segment": 3})")->place(shape, inventory);
    CHECK(where.has_value() == (fitting >= segments));
    if (!where) { continue; }
    ++placed;
    std::map<std::uint32_t, std::uint32_t> tasks;
    for (const NodeShare& share : *where) { tasks[tree.leaf(share.node)] += share.tasks; }
    for (const auto& [leaf, count] : tasks) { CHECK(count % 3 == 0); }
  }
  CHECK(placed > 100);
}

TEST_CASE("topology: a tier that the cluster does not have is refused with those that it has") {
  const Tree tree = tree_of({{2, 2}}, 4);
  CHECK_THROWS_WITH_AS(placement_of("topology", tree.jobs, tree.nodes, R"({"mode": "required", "highest_tier": 3})"),
                       doctest::Contains("no tier 3"), ScenarioError);
}
