#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/proof/prove.hpp"
#include "tests/algorithms/rounds.hpp"

namespace athanor {

namespace {

const Algorithm& all_reduce(std::string_view name) { return find(CollectiveKind::all_reduce, name); }

Collective vector_of(std::uint32_t ranks, std::int64_t count) {
  return {CollectiveKind::all_reduce, ranks, Elements{count}, 0, false};
}

Layout of_dimensions(const Dimensions& dimensions) { return {.shape = GridShape{dimensions}}; }

std::uint32_t product(const Dimensions& dimensions) {
  std::uint32_t ranks = 1;
  for (const std::uint32_t side : dimensions) { ranks *= std::max(side, 1U); }
  return ranks;
}

std::uint32_t log2_up(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }
std::uint32_t log2_down(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks)) - 1; }

/// Steps, elements that every rank sends and elements that it adds, for a payload of any whole number of granules.
void check_form(std::string_view name, const Collective& collective, const Layout& layout, Cost expected) {
  CAPTURE(std::string(name));
  CAPTURE(collective.ranks);
  const Algorithm& algorithm = all_reduce(name);
  REQUIRE(collective.count % algorithm.granule(collective, layout) == Elements::zero());
  CHECK(algorithm.cost(collective, layout) == expected);
  CHECK(counted(*algorithm.make(collective, layout)) == expected);
}

/// Proven in several cuts, and the cost as counted, for even and uneven payloads.
void check_shape(std::string_view name, std::uint32_t ranks, const Layout& shape) {
  const Algorithm& algorithm = all_reduce(name);
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{ranks} + 1, std::int64_t{7} * ranks + 3}) {
    for (const std::uint32_t channels : {1U, 2U}) {
      Layout layout = shape;
      layout.channels = channels;
      layout.chunk = channels == 1 ? Elements::max() : Elements{ranks};
      const Collective collective = vector_of(ranks, count);
      const auto schedule = algorithm.make(collective, layout);
      CAPTURE(std::string(name));
      CAPTURE(ranks);
      CAPTURE(count);
      const auto violation = prove(*schedule, collective);
      if (violation) { FAIL_CHECK(explain(schedule->agent_count(), *violation)); }
      if (channels == 1) { CHECK(algorithm.cost(collective, layout) == counted(*schedule)); }
    }
  }
}

std::string refusal(std::string_view name, std::uint32_t ranks, const Layout& layout) {
  return all_reduce(name).refuses(vector_of(ranks, 10), layout).value_or("");
}

}  // namespace

TEST_CASE("rings take 2(P-1) steps and least traffic, one, both ways round or on disjoint cycles") {
  for (std::uint32_t ranks = 2; ranks <= 40; ++ranks) {
    for (const std::string_view name : {"ring", "bidirectional_ring", "multi_ring"}) {
      Collective collective = vector_of(ranks, 0);
      collective.count = all_reduce(name).granule(collective, {}) * 3;
      const Elements part = collective.count / ranks;
      check_form(name, collective, {}, {2 * (ranks - 1), part * 2 * (ranks - 1), part * (ranks - 1)});
    }
  }
}

TEST_CASE("the two directions of a ring carry half of the payload each, to the neighbours on both sides") {
  const auto schedule = all_reduce("bidirectional_ring").make(vector_of(7, 70), {});
  REQUIRE(schedule->lanes(AgentId{3}) == 2);
  CHECK(schedule->target(AgentId{3}, LaneId{0}, PortId{0}).agent == AgentId{4});
  CHECK(schedule->target(AgentId{3}, LaneId{1}, PortId{0}).agent == AgentId{2});
  CHECK(schedule->at(AgentId{3}, LaneId{0}, 0, 0).count == Elements{5});
  CHECK(schedule->at(AgentId{3}, LaneId{1}, 0, 0).count == Elements{5});
}

TEST_CASE("a number of rings is taken as far as there are so many, and a torus without known cycles is refused") {
  const Layout layout{.shape = GridShape{.rings = 3}};
  CHECK(all_reduce("multi_ring").make(vector_of(16, 480), layout)->lanes(AgentId{0}) == 3);
  CHECK(all_reduce("multi_ring").make(vector_of(16, 480), {})->lanes(AgentId{0}) == 8);
  CHECK(all_reduce("multi_ring").make(vector_of(6, 480), {})->lanes(AgentId{0}) == 2);
  CHECK(all_reduce("multi_ring").make(vector_of(2, 480), {})->lanes(AgentId{0}) == 1);
  CHECK(all_reduce("multi_ring").make(vector_of(16, 480), of_dimensions({4, 4}))->lanes(AgentId{0}) == 4);
  CHECK(refusal("multi_ring", 24, of_dimensions({4, 6})).find("4 x 6") != std::string::npos);
  CHECK(refusal("multi_ring", 8, of_dimensions({2, 4})).find("3 or more") != std::string::npos);
  CHECK(refusal("multi_ring", 27, of_dimensions({3, 3, 3})).find("two dimensions") != std::string::npos);
  for (const Dimensions& dimensions : {Dimensions{3, 3}, Dimensions{3, 9}, Dimensions{4, 4}, Dimensions{8, 4}}) {
    check_shape("multi_ring", product(dimensions), of_dimensions(dimensions));
  }
}

TEST_CASE("a torus of any dimensions takes 2 sum (X - 1) steps and least traffic") {
  for (const Dimensions& dimensions :
       {Dimensions{12}, Dimensions{1, 5}, Dimensions{4, 4}, Dimensions{5, 3}, Dimensions{2, 7}, Dimensions{3, 3, 3},
        Dimensions{2, 3, 4}, Dimensions{4, 1, 4}, Dimensions{2, 2, 2, 2}, Dimensions{3, 2, 2, 2, 2},
        Dimensions{2, 2, 2, 2, 2, 2}}) {
    const std::uint32_t ranks = product(dimensions);
    const Layout layout = of_dimensions(dimensions);
    Cost expected;
    for (const std::uint32_t side : dimensions) { expected.steps += side == 0 ? 0 : 2 * (side - 1); }
    Collective collective = vector_of(ranks, 0);
    collective.count = all_reduce("torus").granule(collective, layout) * 2;
    expected.sent = collective.count / ranks * 2 * (ranks - 1);
    expected.reduced = collective.count / ranks * (ranks - 1);
    check_form("torus", collective, layout, expected);
    check_shape("torus", ranks, layout);
  }
}

TEST_CASE("on a torus every copy talks to neighbours only, and all 2D ports carry equally much") {
  const Dimensions dimensions{4, 4, 4};
  const Grid grid(dimensions);
  const auto schedule = all_reduce("torus_3d").make(vector_of(64, 64 * 6 * 4), of_dimensions(dimensions));
  std::map<std::uint32_t, std::int64_t> sent;
  for (std::uint32_t lane = 0; lane < schedule->lanes(AgentId{21}); ++lane) {
    const std::uint32_t neighbour = schedule->target(AgentId{21}, LaneId{lane}, PortId{0}).agent.value;
    for (std::uint32_t step = 0; step < schedule->lane(AgentId{21}, LaneId{lane}).steps; ++step) {
      const Primitive primitive = schedule->at(AgentId{21}, LaneId{lane}, 0, step);
      sent[neighbour] += primitive.sends.count * primitive.count.count();
    }
  }
  REQUIRE(sent.size() == 6);
  for (std::uint32_t dimension = 0; dimension < 3; ++dimension) {
    CHECK(sent.at(grid.moved(21, dimension, 1)) == sent.at(grid.moved(21, 0, 1)));
    CHECK(sent.at(grid.moved(21, dimension, 3)) == sent.at(grid.moved(21, 0, 1)));
  }
}

TEST_CASE("dimensions that do not fit are refused") {
  CHECK(refusal("torus", 10, of_dimensions({3, 4})).find("3 x 4 are not 10") != std::string::npos);
  CHECK(refusal("ring", 10, of_dimensions({3, 4})).find("3 x 4 are not 10") != std::string::npos);
  CHECK(refusal("torus", 4, of_dimensions({2, 0, 2})).find("side of 0") != std::string::npos);
  CHECK(refusal("torus_2d", 8, of_dimensions({2, 2, 2})).find("2 dimensions, not 3") != std::string::npos);
  CHECK(refusal("torus_3d", 8, of_dimensions({4, 2})).find("3 dimensions, not 2") != std::string::npos);
  CHECK(refusal("mesh_2d", 8, of_dimensions({8})).find("2 dimensions, not 1") != std::string::npos);
  CHECK(refusal("torus_2d", 8, of_dimensions({4, 2})).empty());
  CHECK(refusal("torus", 1, of_dimensions({1, 1})).empty());
}

TEST_CASE("a mesh takes as many steps as the torus; its inner ranks send most") {
  for (const Dimensions& dimensions :
       {Dimensions{4, 4}, Dimensions{5, 3}, Dimensions{2, 6}, Dimensions{1, 6}, Dimensions{7, 7}}) {
    const std::uint32_t ranks = product(dimensions);
    const Layout layout = of_dimensions(dimensions);
    CAPTURE(ranks);
    const Collective collective = vector_of(ranks, ranks * 10);
    const Cost cost = all_reduce("mesh_2d").cost(collective, layout);
    CHECK(cost.steps == 2 * (dimensions[0] - 1 + dimensions[1] - 1));
    CHECK(cost.sent >= all_reduce("torus_2d").cost(collective, layout).sent);
    check_shape("mesh_2d", ranks, layout);
  }
}

TEST_CASE("every link of a chain carries the payload once each way, the less to reduce the more to gather") {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
    const auto schedule = all_reduce("mesh_2d").make(vector_of(ranks, ranks * 5), of_dimensions({ranks, 1}));
    for (std::uint32_t rank = 0; rank + 1 < ranks; ++rank) {
      CAPTURE(ranks);
      CAPTURE(rank);
      Elements sent;
      const Lane shape = schedule->lane(AgentId{rank}, LaneId{0});
      for (std::uint32_t step = 0; step < shape.steps; ++step) {
        const Primitive primitive = schedule->at(AgentId{rank}, LaneId{0}, 0, step);
        sent += primitive.count * primitive.sends.count;
      }
      CHECK(sent == Elements{5 * ranks});
    }
  }
}

TEST_CASE("a hierarchy takes a ring inside and one across, and only 1/g of the payload goes across") {
  for (const auto& [groups, group] : {std::pair{3U, 4U}, {4U, 4U}, {2U, 8U}, {5U, 2U}, {1U, 6U}, {6U, 1U}}) {
    const std::uint32_t ranks = groups * group;
    Layout layout;
    layout.group = group;
    const Collective collective = vector_of(ranks, ranks * 6);
    check_form("hierarchical", collective, layout,
               {2 * (group - 1) + 2 * (groups - 1), Elements{6 * 2 * (ranks - 1)}, Elements{6 * (ranks - 1)}});
    check_shape("hierarchical", ranks, layout);
    const auto schedule = all_reduce("hierarchical").make(collective, layout);
    Elements across;
    for (std::uint32_t lane = 0; lane < schedule->lanes(AgentId{1}); ++lane) {
      if (schedule->target(AgentId{1}, LaneId{lane}, PortId{0}).agent.value / group == 1 / group) { continue; }
      for (std::uint32_t step = 0; step < schedule->lane(AgentId{1}, LaneId{lane}).steps; ++step) {
        const Primitive primitive = schedule->at(AgentId{1}, LaneId{lane}, 0, step);
        across += primitive.count * primitive.sends.count;
      }
    }
    CHECK(across == Elements{6 * 2 * (groups - 1)});
  }
}

TEST_CASE("halving and doubling costs the same in whatever order of distances; the butterfly as recursive doubling") {
  for (std::uint32_t ranks = 2; ranks <= 40; ++ranks) {
    const Collective collective = vector_of(ranks, 4096);
    CAPTURE(ranks);
    const Cost halving = all_reduce("halving_doubling").cost(collective);
    CHECK(all_reduce("rabenseifner").cost(collective) == halving);
    CHECK(all_reduce("swing").cost(collective) == halving);
    const Cost doubling = all_reduce("recursive_doubling").cost(collective);
    CHECK(all_reduce("swing_latency").cost(collective) == doubling);
    CHECK(all_reduce("butterfly").cost(collective) == doubling);
  }
}

TEST_CASE("the longest messages go to the neighbour in halving_doubling, to the farthest rank in rabenseifner") {
  const Collective collective = vector_of(16, 160);
  for (const auto& [name, partner] : {std::pair{"halving_doubling", 1U}, {"rabenseifner", 8U}}) {
    const auto schedule = all_reduce(name).make(collective, {});
    CHECK(schedule->target(AgentId{0}, LaneId{0}, PortId{0}).agent == AgentId{partner});
    CHECK(schedule->at(AgentId{0}, LaneId{0}, 0, 0).count == Elements{80});
  }
}

TEST_CASE("chunks follow each other through the stages of a butterfly, and wait for each other in recursive doubling") {
  Layout layout;
  layout.chunk = Elements{10};
  for (const std::uint32_t ranks : {8U, 16U, 32U}) {
    const Collective collective = vector_of(ranks, 200);
    CHECK(counted(*all_reduce("butterfly").make(collective, layout)).steps == log2_up(ranks) + 20 - 1);
    CHECK(counted(*all_reduce("recursive_doubling").make(collective, layout)).steps == 20 * log2_up(ranks));
  }
}

TEST_CASE("binomial trees, parameter servers and direct exchanges have their closed forms") {
  for (std::uint32_t ranks = 2; ranks <= 40; ++ranks) {
    const std::int64_t others = ranks - 1;
    const std::int64_t m = 3;
    const std::int64_t n = m * ranks;
    const Collective collective = vector_of(ranks, n);
    const std::uint32_t rounds = log2_up(ranks);
    check_form("binomial_tree", collective, {},
               {rounds + log2_down(ranks), Elements{n * rounds}, Elements{n * rounds}});
    check_form("parameter_server_sharded", collective, {},
               {2 * (ranks - 1), Elements{2 * others * m}, Elements{others * m}});
    check_form("direct_two_shot", collective, {}, {2, Elements{2 * others * m}, Elements{others * m}});
    check_form("direct_one_shot", collective, {}, {1, Elements{others * n}, Elements{others * n}});
  }
}

TEST_CASE("each server hears from one worker at a time") {
  for (const std::uint32_t ranks : {2U, 5U, 8U}) {
    const auto schedule = all_reduce("parameter_server_sharded").make(vector_of(ranks, 80), {});
    for (std::uint32_t step = 0; step + 1 < ranks; ++step) {
      std::set<std::uint32_t> servers;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const PortId port{schedule->at(AgentId{rank}, LaneId{0}, 0, step).sends.first};
        servers.insert(schedule->target(AgentId{rank}, LaneId{0}, port).agent.value);
      }
      CHECK(servers.size() == ranks);
    }
  }
}

TEST_CASE("direct exchanges are refused beyond the ranks of a node") {
  for (const std::string_view name : {"direct_one_shot", "direct_two_shot"}) {
    CHECK(refusal(name, 256, {}).empty());
    CHECK(refusal(name, 257, {}).find("257 are more than 256") != std::string::npos);
  }
}

TEST_CASE("ranks of a symmetric all-reduce have equal programs, and lanes lead equally far") {
  for (const std::string_view name :
       {"bidirectional_ring", "multi_ring", "torus", "torus_2d", "hierarchical", "rabenseifner", "halving_doubling",
        "swing", "swing_latency", "butterfly", "parameter_server_sharded", "direct_one_shot", "direct_two_shot"}) {
    CAPTURE(std::string(name));
    const Layout layout{.channels = 2, .group = 4};
    Collective collective = vector_of(16, 0);
    collective.count = all_reduce(name).granule(collective, layout) * 3;
    const auto schedule = all_reduce(name).make(collective, layout);
    for (std::uint32_t rank = 1; rank < 16; ++rank) {
      REQUIRE(schedule->lanes(AgentId{rank}) == schedule->lanes(AgentId{0}));
      for (std::uint32_t lane = 0; lane < schedule->lanes(AgentId{0}); ++lane) {
        CHECK(schedule->lane(AgentId{rank}, LaneId{lane}).program == schedule->lane(AgentId{0}, LaneId{lane}).program);
      }
    }
  }
}

}  // namespace athanor
