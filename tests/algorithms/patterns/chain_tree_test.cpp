#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/binary_trees.hpp"
#include "algorithms/proof/prove.hpp"
#include "tests/algorithms/rounds.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

using Heads = std::array<std::uint32_t, 2>;
constexpr Heads kPatterns[] = {{0, 0}, {1, 0}, {1, 1}};  // as NCCL's tree, balanced tree and split tree

const Algorithm& chain_tree() { return find(CollectiveKind::all_reduce, "node_chain_tree"); }

Layout in_groups(std::uint32_t group, const Heads& heads = {0, 0}) {
  Layout layout;
  layout.group = group;
  layout.shape = ChainTreeShape{heads};
  return layout;
}

/// Elements that leave each group and that come in.
struct Traffic {
  std::vector<std::int64_t> out;
  std::vector<std::int64_t> in;
};

Traffic between_groups(const Schedule& schedule, std::uint32_t group) {
  const std::uint32_t ranks = schedule.agent_count().ranks;
  Traffic traffic{std::vector<std::int64_t>(ranks / group), std::vector<std::int64_t>(ranks / group)};
  for (AgentId agent{0}; agent.value < ranks; ++agent.value) {
    for (LaneId lane{0}; lane.value < schedule.lanes(agent); ++lane.value) {
      const Lane shape = schedule.lane(agent, lane);
      for (PortId port{0}; port.value < shape.out_ports; ++port.value) {
        const std::uint32_t to = schedule.target(agent, lane, port).agent.value / group;
        if (to == agent.value / group) { continue; }
        for (std::uint64_t loop = 0; loop < shape.loops; ++loop) {
          const std::int64_t count = schedule.at(agent, lane, loop, 0).count.count();
          traffic.out[agent.value / group] += count;
          traffic.in[to] += count;
        }
      }
    }
  }
  return traffic;
}

}  // namespace

TEST_CASE("a tree over node chains is as deep as the chain and the trees over the nodes together") {
  for (const std::uint32_t group : {1U, 2U, 5U}) {
    for (std::uint32_t groups = 1; groups <= 17; ++groups) {
      CAPTURE(group);
      CAPTURE(groups);
      if (group * groups == 1) { continue; }
      const Layout layout = in_groups(group);
      const Collective collective{CollectiveKind::all_reduce, group * groups, Elements{1000}};
      const std::uint32_t between = groups == 1 ? 0 : DoubleBinaryTree(groups).depth();
      CHECK(chain_tree().cost(collective, layout).steps == 2 * (group - 1 + between));
    }
  }
}

TEST_CASE("the stated cost of a tree over node chains is what its schedule does, wherever nodes attach") {
  for (const Heads& heads : kPatterns) {
    for (const std::uint32_t group : {1U, 2U, 4U}) {
      for (std::uint32_t groups = 1; groups <= 9; ++groups) {
        CAPTURE(heads[0] + heads[1]);
        CAPTURE(group);
        CAPTURE(groups);
        for (const std::int64_t count : {0, 1, 37, 240}) {
          const Collective collective{CollectiveKind::all_reduce, group * groups, Elements{count}};
          const Layout layout = in_groups(group, heads);
          CHECK(counted(*chain_tree().make(collective, layout)) == chain_tree().cost(collective, layout));
        }
      }
    }
  }
}

TEST_CASE("over both trees a node sends and gets the payload twice, each of the two roots and each of two nodes once") {
  constexpr std::int64_t kPayload = 1200;
  for (const Heads& heads : kPatterns) {
    for (std::uint32_t groups = 2; groups <= 12; groups += 2) {
      CAPTURE(groups);
      const Collective collective{CollectiveKind::all_reduce, 4 * groups, Elements{kPayload}};
      const Traffic traffic = between_groups(*chain_tree().make(collective, in_groups(4, heads)), 4);
      CHECK(traffic.in == traffic.out);
      const DoubleBinaryTree trees(groups);
      for (std::uint32_t node = 0; node < groups; ++node) {
        CAPTURE(node);
        std::int64_t neighbours = 0;
        for (const std::uint32_t tree : {0U, 1U}) {
          neighbours += trees.children(tree, node) + (trees.is_root(tree, node) ? 0 : 1);
        }
        const bool once = groups == 2 || trees.is_root(0, node) || trees.is_root(1, node);
        CHECK(traffic.out[node] == kPayload / 2 * neighbours);
        if (once) { CHECK(traffic.out[node] == kPayload); }
        CHECK(traffic.out[node] <= 2 * kPayload);
      }
    }
  }
}

TEST_CASE("the chain follows the channel's way, and nodes attach where the pattern says") {
  const std::uint32_t nodes = 4;
  for (const Heads& heads : kPatterns) {
    Layout layout = in_groups(4, heads);
    layout.orders = sample_orders(4);
    const ChainTrees trees(4 * nodes, layout);
    for (std::uint32_t channel = 0; channel < 6; ++channel) {  // three ways take tree 0, and then their copies tree 1
      CAPTURE(channel);
      const auto rank = [&](std::uint32_t node, std::uint32_t place) {
        return node * 4 + (node % 2 == 0 ? layout.orders->even : layout.orders->odd)[channel % 3][place];
      };
      const bool second_tree = channel >= 3;
      // Node 0 is above 2, which is above 1 and 3; in the second tree, its mirror image, 3 is above 1, above 2 and 0.
      const auto node = [&](std::uint32_t position) { return second_tree ? nodes - 1 - position : position; };
      for (std::uint32_t number = 0; number < nodes; ++number) {
        for (std::uint32_t place = 1; place < 4; ++place) {
          CHECK(trees.parent(channel, rank(number, place)) == rank(number, place - 1));
          CHECK(trees.child(channel, rank(number, place - 1), 0) == rank(number, place));
        }
      }
      CHECK(trees.root(channel) == rank(node(0), 0));
      CHECK(trees.parent(channel, rank(node(2), 0)) == rank(node(0), heads[1]));
      CHECK(trees.parent(channel, rank(node(1), 0)) == rank(node(2), heads[0]));
      CHECK(trees.parent(channel, rank(node(3), 0)) == rank(node(2), heads[1]));
      CHECK(trees.children(channel, rank(node(2), 0)) == 1 + (heads[0] == 0 ? 1 : 0) + (heads[1] == 0 ? 1 : 0));
    }
  }
}

TEST_CASE("in a tree over node chains every rank is a child of its parent once, and three are the most") {
  for (const Heads& heads : kPatterns) {
    for (const std::uint32_t group : {1U, 2U, 3U, 8U}) {
      for (std::uint32_t groups = 1; groups <= 11; ++groups) {
        const ChainTrees trees(group * groups, in_groups(group, heads));
        for (std::uint32_t channel = 0; channel < 2; ++channel) {
          std::uint32_t children = 0;
          for (std::uint32_t rank = 0; rank < group * groups; ++rank) {
            CHECK(trees.children(channel, rank) <= 3);
            children += trees.children(channel, rank);
            if (rank == trees.root(channel)) { continue; }
            const std::uint32_t parent = trees.parent(channel, rank);
            REQUIRE(trees.index(channel, rank) < trees.children(channel, parent));
            CHECK(trees.child(channel, parent, trees.index(channel, rank)) == rank);
          }
          CHECK(children == group * groups - 1);
          CHECK(trees.in_root_group(trees.root(channel)));
        }
      }
    }
  }
}

TEST_CASE("trees over node chains are proven in every pattern, with orders and without, in many chunks") {
  for (const Heads& heads : kPatterns) {
    for (const std::uint32_t group : {1U, 2U, 3U, 8U}) {
      for (const std::uint32_t groups : {1U, 2U, 3U, 6U, 9U}) {
        for (const bool ordered : {false, true}) {
          for (const std::int64_t count : {5, 97, 240}) {
            CAPTURE(group);
            CAPTURE(groups);
            CAPTURE(ordered);
            CAPTURE(count);
            Layout layout = in_groups(group, heads);
            layout.channels = 5;
            layout.chunk = Elements{7};
            if (ordered) { layout.orders = sample_orders(group); }
            const Collective collective{CollectiveKind::all_reduce, group * groups, Elements{count}};
            const auto schedule = chain_tree().make(collective, layout);
            const auto violation = prove(*schedule, collective);
            if (violation) { FAIL_CHECK(explain(schedule->agent_count(), *violation)); }
          }
        }
      }
    }
  }
}

}  // namespace athanor
