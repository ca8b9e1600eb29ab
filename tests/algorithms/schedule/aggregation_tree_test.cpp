#include "algorithms/schedule/aggregation_tree.hpp"

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/proof/prove.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

/// Everything that is odd: a chain of nodes with one child, ranks beside nodes, a rank on the root, ranks out of order.
///
///     0 -- 1 -- 2 -- ranks 3, 0
///     |         `--- 3 -- rank 5
///     |-- 4 -- ranks 1, 4
///     `-- rank 2
AggregationTree odd_tree() { return {{0, 0, 1, 2, 0}, {2, 4, 0, 2, 4, 3}}; }

const std::vector<CollectiveKind> kKinds{CollectiveKind::all_reduce,     CollectiveKind::reduce,
                                         CollectiveKind::broadcast,      CollectiveKind::barrier,
                                         CollectiveKind::reduce_scatter, CollectiveKind::all_gather};

std::shared_ptr<const AggregationTree> tree(AggregationTree tree) {
  return std::make_shared<const AggregationTree>(std::move(tree));
}

/// Over six ranks, every kind, from every root, in and out of place.
void prove_all(const Layout& layout) {
  for (const CollectiveKind kind : kKinds) {
    const Algorithm& algorithm = find(kind, "aggregation_tree");
    for (std::uint32_t root = 0; root < (has_root(kind) ? 6U : 1U); ++root) {
      for (const bool in_place : {false, true}) {
        if (in_place && kind == CollectiveKind::barrier) { continue; }
        const Collective collective = sample(kind, 6, 23, root, in_place);
        const auto violation = prove(*algorithm.make(collective, layout), collective);
        INFO(name(kind), ", root ", root, ": ", violation ? violation->text : "");
        CHECK_FALSE(violation.has_value());
      }
    }
  }
}

}  // namespace

TEST_CASE("an aggregation tree knows what hangs on what") {
  const AggregationTree tree = odd_tree();
  CHECK(tree.ranks() == 6);
  CHECK(tree.nodes() == 5);
  const auto top = tree.children(0);
  CHECK(std::vector<AggregationTree::Child>(top.begin(), top.end()) ==
        std::vector<AggregationTree::Child>{{false, 1}, {false, 4}, {true, 2}});
  CHECK(tree.ranks_below(0) == 6);
  CHECK(tree.ranks_below(1) == 3);
  CHECK(tree.ranks_below(3) == 1);
  CHECK(tree.depth(2) == 1);
  CHECK(tree.depth(5) == 4);
  CHECK(tree.depth() == 4);
}

TEST_CASE("a regular tree has as few levels as its arity allows") {
  CHECK(AggregationTree::regular(8, 8).nodes() == 1);
  CHECK(AggregationTree::regular(9, 8).nodes() == 3);
  CHECK(AggregationTree::regular(64, 8).depth() == 2);
  const AggregationTree three = AggregationTree::regular(65, 8);
  CHECK(three.depth() == 3);
  CHECK(three.nodes() == 9 + 2 + 1);
  CHECK(three.node_of(64) == 11);
  CHECK(three.ranks_below(three.node_of(64)) == 1);
  CHECK(three.parent(three.node_of(64)) == 2);
}

TEST_CASE("any tree carries out what engines in the network can do, from every root, in and out of place") {
  Layout layout{.channels = 2, .chunk = Elements{3}};
  layout.shape = EngineTreeShape{.trees = {tree(odd_tree())}};
  prove_all(layout);
}

TEST_CASE("channels take trees in turn, of any shape, and hold chunks back where few may be outstanding") {
  const auto odd = tree(odd_tree());
  const auto regular = tree(AggregationTree::regular(6, 2));
  for (const std::uint32_t outstanding : {0U, 1U, 3U}) {
    for (const std::uint32_t channels : {1U, 2U, 3U, 5U}) {
      Layout layout{.channels = channels, .chunk = Elements{1}};
      layout.shape = EngineTreeShape{.trees = {odd, regular, odd}, .outstanding = outstanding};
      prove_all(layout);
    }
  }
}

TEST_CASE("the engines of several trees follow each other, and each serves its own channels") {
  const EngineTreeShape engines{
      .trees = {tree(AggregationTree::regular(6, 2)), tree(odd_tree()), tree(AggregationTree::regular(6, 8))}};
  const Layout layout{.channels = 4, .shape = engines};
  const auto schedule =
      find(CollectiveKind::all_reduce, "aggregation_tree").make(sample(CollectiveKind::all_reduce, 6, 24), layout);
  const std::uint32_t first = 6 + engines.trees[0]->nodes();
  CHECK(schedule->agent_count().agents == first + 5 + 1);
  CHECK(schedule->lanes(AgentId{6}) == 2);  // channels 0 and 3, one lane each at the root of its tree
  CHECK(schedule->lanes(AgentId{first}) == 1);
  CHECK(schedule->lanes(AgentId{first + 1}) == 2);
  CHECK(schedule->lanes(AgentId{first + 5}) == 1);
  CHECK(schedule->target(AgentId{0}, LaneId{6}, PortId{0}).agent.value < first);  // channel 3 is in tree 0 again
}

TEST_CASE("a tree of another number of ranks is refused") {
  Layout layout;
  layout.shape = EngineTreeShape{.trees = {std::make_shared<const AggregationTree>(odd_tree())}};
  const Algorithm& algorithm = find(CollectiveKind::all_reduce, "aggregation_tree");
  const auto refusal = algorithm.refuses(sample(CollectiveKind::all_reduce, 7, 10), layout);
  REQUIRE(refusal.has_value());
  CHECK(*refusal == "an aggregation tree has 6 ranks, and the collective 7");
}

}  // namespace athanor
