#include <string>

#include <doctest/doctest.h>

#include "algorithms/aggregation_tree.hpp"
#include "algorithms/catalog.hpp"
#include "algorithms/check/prove.hpp"
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

}  // namespace

TEST_CASE("heads all-reduce over nodes of any number and size, in few chunks and many, with windows and without") {
  for (const std::string_view name : kAll) {
    for (const Shape& shape :
         {Shape{2, 1}, Shape{2, 2}, Shape{2, 8}, Shape{3, 3}, Shape{4, 4}, Shape{5, 2}, Shape{9, 3}, Shape{17, 2}}) {
      for (const std::int64_t count : {0, 1, 5, 64, 131}) {
        for (const std::uint32_t channels : {1U, 2U, 3U}) {
          for (const std::uint32_t outstanding : {0U, 1U, 3U}) {
            Layout layout{.channels = channels, .chunk = Elements{3}, .group = shape.group, .outstanding = outstanding};
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
  layout.trees = {regular(5, 2), regular(5, 8),
                  std::make_shared<const AggregationTree>(std::vector{0U, 0U, 1U}, std::vector{2U, 0U, 1U, 2U, 1U})};
  for (const std::string_view name : {"nvls_sharp", "collnet_direct", "collnet_chain"}) {
    const Collective collective = sample(CollectiveKind::all_reduce, 15, 77);
    const auto schedule = all_reduce(name).make(collective, layout);
    CHECK(schedule->roster().agents == 15 + (name == std::string_view("nvls_sharp") ? 5 : 0) + 6 + 1 + 3);
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
  layout.trees = {regular(3, 8)};
  CHECK(refusal("nvls_sharp", 6, layout) == "there are 1 aggregation trees for 2 heads of a node");
  layout.trees.push_back(regular(4, 8));
  CHECK(refusal("collnet_chain", 6, layout) == "an aggregation tree has 4 ranks, and there are 3 nodes");
  CHECK(refusal("nvls_tree", 6, layout).empty());
}

}  // namespace athanor
