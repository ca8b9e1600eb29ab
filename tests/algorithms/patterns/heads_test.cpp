#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/proof/prove.hpp"
#include "algorithms/schedule/aggregation_tree.hpp"
#include "tests/algorithms/rounds.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

constexpr std::string_view kAll[] = {"nvls_tree", "nvls_sharp", "collnet_direct", "collnet_chain"};

struct Shape {
  std::uint32_t nodes = 0;
  std::uint32_t group = 0;
};

const Algorithm& all_reduce(std::string_view name) { return find(CollectiveKind::all_reduce, name); }

std::shared_ptr<const AggregationTree> regular(std::uint32_t ranks, std::uint32_t arity) {
  return std::make_shared<const AggregationTree>(AggregationTree::regular(ranks, arity));
}

std::string refusal(std::string_view name, std::uint32_t ranks, const Layout& layout) {
  return all_reduce(name).refuses(sample(CollectiveKind::all_reduce, ranks, 10), layout).value_or("");
}

/// Nodes of `group` ranks of which these are heads.
Layout with_heads(std::uint32_t group, std::vector<std::uint32_t> heads) {
  return {.channels = 3, .chunk = Elements{3}, .group = group, .shape = EngineTreeShape{.heads = std::move(heads)}};
}

std::string proof_of(std::string_view name, std::uint32_t nodes, std::int64_t count, const Layout& layout) {
  const Collective collective = sample(CollectiveKind::all_reduce, nodes * layout.group, count);
  const auto violation = prove(*all_reduce(name).make(collective, layout), collective);
  return violation ? violation->text : "";
}

bool costs_as_counted(std::string_view name, std::uint32_t nodes, std::int64_t count, const Layout& layout) {
  const Collective collective = sample(CollectiveKind::all_reduce, nodes * layout.group, count);
  return counted(*all_reduce(name).make(collective, layout)) == all_reduce(name).cost(collective, layout);
}

/// Chains through four places, of which two end at place 0 and one at place 2.
std::shared_ptr<const ChannelOrders> chains_of_four() {
  const std::vector<std::vector<std::uint32_t>> ways{{0, 3, 1, 2}, {2, 1, 0, 3}, {0, 1, 2, 3}};
  return std::make_shared<const ChannelOrders>(ChannelOrders{ways, ways});
}

/// Of the ranks of node 0: elements that each sends to agents of other nodes and to engines in switches.
std::vector<std::int64_t> sent_outside(const Schedule& schedule, std::uint32_t group) {
  std::vector<std::int64_t> sent(group);
  for (std::uint32_t rank = 0; rank < group; ++rank) {
    for (std::uint32_t l = 0; l < schedule.lanes(AgentId{rank}); ++l) {
      const Lane lane = schedule.lane(AgentId{rank}, LaneId{l});
      for (std::uint32_t port = 0; port < lane.out_ports; ++port) {
        if (schedule.target(AgentId{rank}, LaneId{l}, PortId{port}).agent.value < group) { continue; }
        for (std::uint64_t loop = 0; loop < lane.loops; ++loop) {
          sent[rank] += schedule.at(AgentId{rank}, LaneId{l}, loop, 0).count.count();
        }
      }
    }
  }
  return sent;
}

}  // namespace

TEST_CASE("some of the ranks of a node may be its heads: those beside a NIC") {
  for (const std::string_view name : kAll) {
    for (const std::vector<std::uint32_t>& heads :
         {std::vector{0U}, std::vector{3U}, std::vector{1U, 3U}, std::vector{0U, 1U, 2U, 3U}}) {
      for (const std::uint32_t nodes : {2U, 3U, 5U}) {
        for (const std::int64_t count : {0, 1, 7, 131}) {
          INFO(name, ", ", heads.size(), " heads, ", nodes, " nodes, ", count, " elements");
          CHECK(proof_of(name, nodes, count, with_heads(4, heads)).empty());
          Layout whole{.group = 4, .shape = EngineTreeShape{.heads = heads}};
          CHECK(costs_as_counted(name, nodes, count, whole));
        }
      }
    }
  }
}

TEST_CASE("heads share the payload between nodes, and nobody else sends any of it") {
  for (const std::string_view name : {"nvls_sharp", "collnet_direct", "collnet_chain"}) {
    CAPTURE(name);
    const Collective collective = sample(CollectiveKind::all_reduce, 12, 96);
    const Layout layout{.group = 4, .shape = EngineTreeShape{.heads = {1, 3}}};
    const auto schedule = all_reduce(name).make(collective, layout);
    const std::vector<std::int64_t> sent = sent_outside(*schedule, 4);
    // With NVLS the sums come from the NVSwitches, which are agents beyond the ranks: everyone sends all to them, and a
    // head the result of its half.
    const std::int64_t within = name == std::string_view("nvls_sharp") ? 96 : 0;
    const std::int64_t back = name == std::string_view("nvls_sharp") ? 48 : 0;
    CHECK(sent == std::vector<std::int64_t>{within, within + back + 48, within, within + back + 48});
  }
}

TEST_CASE("chains with orders: each channel has one, which ends at its first place") {
  for (const std::uint32_t nodes : {2U, 3U, 5U}) {
    for (const std::int64_t count : {0, 1, 7, 131}) {
      for (const std::uint32_t channels : {1U, 2U, 4U, 7U}) {
        for (const std::uint32_t outstanding : {0U, 1U, 3U}) {
          Layout layout{.channels = channels, .chunk = Elements{3}, .group = 4, .orders = chains_of_four()};
          layout.shape = EngineTreeShape{.heads = {0, 2}, .outstanding = outstanding};
          INFO(nodes, " nodes, ", count, " elements, ", channels, " channels");
          CHECK(proof_of("collnet_chain", nodes, count, layout).empty());
        }
      }
      Layout whole{.group = 4, .shape = EngineTreeShape{.heads = {0, 2}}};
      whole.orders = chains_of_four();
      CHECK(costs_as_counted("collnet_chain", nodes, count, whole));
    }
  }
  // Six channels, of which four belong to place 0 and two to place 2.
  Layout layout{.channels = 6, .group = 4, .shape = EngineTreeShape{.heads = {0, 2}}};
  layout.orders = chains_of_four();
  const auto schedule = all_reduce("collnet_chain").make(sample(CollectiveKind::all_reduce, 8, 60), layout);
  CHECK(sent_outside(*schedule, 4) == std::vector<std::int64_t>{40, 0, 20, 0});
}

TEST_CASE("heads that a node has not, and chains that end at none, are refused") {
  for (const std::string_view name : kAll) {
    CHECK(refusal(name, 8, {.group = 4, .shape = EngineTreeShape{.heads = {4}}}) ==
          "head 0 is at place 4 of a group of 4");
    CHECK(refusal(name, 8, {.group = 4, .shape = EngineTreeShape{.heads = {2, 1}}}) ==
          "the places of heads do not ascend");
    CHECK(refusal(name, 8, {.shape = EngineTreeShape{.heads = {5}}}) == "a head is at place 5 of nodes of 4 ranks");
  }
  Layout layout{.group = 4, .shape = EngineTreeShape{.heads = {0, 1}}};
  layout.orders = chains_of_four();
  CHECK(refusal("collnet_chain", 8, layout) == "a chain ends at place 2, which is no head");
  CHECK(refusal("collnet_direct", 8, layout).empty());
  layout.shape = EngineTreeShape{.trees = {regular(2, 8)}, .heads = {0, 1}};
  CHECK(refusal("collnet_direct", 8, layout) == "there are 1 aggregation trees for 2 heads of a node");
}

TEST_CASE("heads all-reduce over nodes of any number and size, in few chunks and many, with windows and without") {
  for (const std::string_view name : kAll) {
    for (const Shape& shape :
         {Shape{2, 1}, Shape{2, 2}, Shape{2, 8}, Shape{3, 3}, Shape{4, 4}, Shape{5, 2}, Shape{9, 3}, Shape{17, 2}}) {
      for (const std::int64_t count : {0, 1, 5, 64, 131}) {
        for (const std::uint32_t channels : {1U, 2U, 3U}) {
          for (const std::uint32_t outstanding : {0U, 1U, 3U}) {
            const Layout layout{.channels = channels,
                                .chunk = Elements{3},
                                .group = shape.group,
                                .shape = EngineTreeShape{.outstanding = outstanding}};
            const Collective collective =
                sample(CollectiveKind::all_reduce, shape.nodes * shape.group, count, 0, (count + channels) % 2 == 0);
            const auto violation = prove(*all_reduce(name).make(collective, layout), collective);
            INFO(name, ", ", shape.nodes, " x ", shape.group, ", ", count,
                 " elements: ", violation ? violation->text : "");
            CHECK_FALSE(violation.has_value());
          }
        }
      }
    }
  }
}

TEST_CASE("the tree of each head may have a shape of its own") {
  Layout layout{.channels = 2, .chunk = Elements{2}, .group = 3};
  layout.shape = EngineTreeShape{
      .trees = {regular(5, 2), regular(5, 8),
                std::make_shared<const AggregationTree>(std::vector{0U, 0U, 1U}, std::vector{2U, 0U, 1U, 2U, 1U})}};
  for (const std::string_view name : {"nvls_sharp", "collnet_direct", "collnet_chain"}) {
    const Collective collective = sample(CollectiveKind::all_reduce, 15, 77);
    const auto schedule = all_reduce(name).make(collective, layout);
    CHECK(schedule->agent_count().agents == 15 + (name == std::string_view("nvls_sharp") ? 5 : 0) + 6 + 1 + 3);
    const auto violation = prove(*schedule, collective);
    INFO(name, ": ", violation ? violation->text : "");
    CHECK_FALSE(violation.has_value());
  }
}

TEST_CASE("the cost of heads follows the shape of the nodes") {
  for (const std::string_view name : kAll) {
    for (const Shape& shape : {Shape{2, 8}, Shape{3, 3}, Shape{9, 3}, Shape{16, 4}}) {
      for (const std::int64_t count : {1, 37, 960}) {
        CAPTURE(name);
        CAPTURE(shape.nodes);
        CAPTURE(count);
        const Layout layout{.group = shape.group};
        const Collective collective = sample(CollectiveKind::all_reduce, shape.nodes * shape.group, count);
        CHECK(counted(*all_reduce(name).make(collective, layout)) == all_reduce(name).cost(collective, layout));
      }
    }
  }
}

TEST_CASE("one node, too many heads and trees that do not fit are refused") {
  for (const std::string_view name : kAll) {
    CHECK(refusal(name, 8, {.group = 8}) == "it needs at least two nodes, and 8 ranks are one");
    CHECK(refusal(name, 146, {.group = 73}).find("nodes of at most") != std::string::npos);
    CHECK(refusal(name, 16, {.group = 8}).empty());
    CHECK(refusal(name, 18, {.group = 9}).empty() == (name.substr(0, 4) == "nvls"));
  }
  Layout layout{.group = 2};
  layout.shape = EngineTreeShape{.trees = {regular(3, 8)}};
  CHECK(refusal("nvls_sharp", 6, layout) == "there are 1 aggregation trees for 2 heads of a node");
  layout.shape = EngineTreeShape{.trees = {regular(3, 8), regular(4, 8)}};
  CHECK(refusal("collnet_chain", 6, layout) == "an aggregation tree has 4 ranks, and there are 3 nodes");
  CHECK(refusal("nvls_tree", 6, layout).empty());
}

}  // namespace athanor
