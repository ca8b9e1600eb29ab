#include "algorithms/catalog.hpp"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

std::string refusal(const Collective& collective, const Layout& layout) {
  return invalid(collective, layout).value_or("");
}

/// Of four ranks, two on a node, where switches that aggregate have one tree of one node for each that needs it.
std::uint32_t engines(Engine engine) {
  switch (engine) {
    case Engine::none: return 0;
    case Engine::nvswitch:
    case Engine::server:
    case Engine::switches: return 1;
    case Engine::nvswitches:
    case Engine::switches_per_head: return 2;
    case Engine::nvswitches_and_switches: return 2 + 2;
  }
  return 0;
}

}  // namespace

TEST_CASE("every kind of collective has an algorithm, and names are unique per kind") {
  std::set<std::pair<CollectiveKind, std::string>> names;
  std::set<CollectiveKind> kinds;
  for (const Algorithm& algorithm : catalog()) {
    CHECK(names.emplace(algorithm.kind, algorithm.name).second);
    CHECK_FALSE(algorithm.summary.empty());
    CHECK_FALSE(algorithm.formula.empty());
    CHECK_FALSE(algorithm.source.empty());
    CHECK(&find(algorithm.kind, algorithm.name) == &algorithm);
    kinds.insert(algorithm.kind);
  }
  CHECK(kinds.size() == collective_kinds().size());
}

TEST_CASE("the name of a collective leads back to it, and no other word does") {
  for (const CollectiveKind kind : collective_kinds()) { CHECK(collective_kind(name(kind)) == kind); }
  CHECK_FALSE(collective_kind("allreduce").has_value());
  CHECK_FALSE(collective_kind("").has_value());
}

TEST_CASE("an unknown algorithm is an error with the nearest name and all that fit") {
  try {
    find(CollectiveKind::all_reduce, "rinq");
    FAIL("found");
  } catch (const ScenarioError& error) {
    const Problem& problem = error.problems().at(0);
    CHECK(problem.code == "unknown-algorithm");
    CHECK(problem.message.find("\"rinq\"") != std::string::npos);
    CHECK(problem.hint.find("did you mean \"ring\"") != std::string::npos);
    CHECK(problem.hint.find("double_binary_tree") != std::string::npos);
    CHECK(problem.hint.find("pairwise") == std::string::npos);
  }
  CHECK_THROWS_AS(find(CollectiveKind::broadcast, "nvls"), ScenarioError);
}

TEST_CASE("a collective or a layout that makes no sense is refused with the reason") {
  const Collective fine{CollectiveKind::broadcast, 6, Elements{10}, 5, true};
  CHECK(refusal(fine, {}).empty());
  auto collective = fine;
  collective.ranks = 0;
  CHECK(refusal(collective, {}).find("at least one rank") != std::string::npos);
  collective = fine;
  collective.root = 6;
  CHECK(refusal(collective, {}).find("root 6") != std::string::npos);
  collective = fine;
  collective.count = Elements{-1};
  CHECK(refusal(collective, {}).find("negative") != std::string::npos);
  collective = fine;
  collective.kind = CollectiveKind::all_to_all;
  CHECK(refusal(collective, {}).find("in place") != std::string::npos);

  Layout layout;
  layout.channels = 0;
  CHECK(refusal(fine, layout).find("channel") != std::string::npos);
  layout = {};
  layout.slices = 0;
  CHECK(refusal(fine, layout).find("slice") != std::string::npos);
  layout = {};
  layout.chunk = Elements{0};
  CHECK(refusal(fine, layout).find("chunk") != std::string::npos);
  layout = {};
  layout.grain = Elements{0};
  CHECK(refusal(fine, layout).find("grain") != std::string::npos);
  layout = {};
  layout.group = 4;
  CHECK(refusal(fine, layout).find("groups of 4") != std::string::npos);
  layout = {};
  layout.least_slice = Elements{0};
  CHECK(refusal(fine, layout).find("least slice") != std::string::npos);
  layout = {};
  layout.shape = PeerRoundShape{.parts = 0};
  CHECK(refusal(fine, layout).find("one part") != std::string::npos);
  layout = {};
  layout.shape = PeerRoundShape{.peers_at_once = 0};
  CHECK(refusal(fine, layout).find("one peer") != std::string::npos);
}

TEST_CASE("orders of channels that are no paths through a group are refused with the first that is wrong") {
  const Collective collective{CollectiveKind::all_reduce, 6, Elements{10}};
  const auto refused = [&](ChannelOrders orders, std::uint32_t group) {
    Layout layout;
    layout.group = group;
    layout.orders = std::make_shared<ChannelOrders>(std::move(orders));
    return refusal(collective, layout);
  };
  CHECK(refused({{{2, 0, 1}}, {{0, 1, 2}}}, 3).empty());
  CHECK(refused({{{5, 4, 3, 2, 1, 0}}, {{0, 1, 2, 3, 4, 5}}}, 0).empty());
  CHECK(refused({}, 3) == "the channels' orders have no path through a group");
  CHECK(refused({{{0, 1, 2}}, {}}, 3) == "there are 1 paths through groups of even number and 0 through others");
  CHECK(refused({{{0, 1, 2}, {0, 1}}, {{0, 1, 2}, {0, 1, 2}}}, 3) ==
        "path 1 through groups of even number visits 2 of the 3 places of a group");
  CHECK(refused({{{0, 1, 2}}, {{0, 3, 1}}}, 3) == "path 0 through groups of odd number visits place 3 of a group of 3");
  CHECK(refused({{{0, 1, 2}}, {{0, 1, 1}}}, 3) == "path 0 through groups of odd number visits place 1 twice");
}

TEST_CASE("an algorithm refuses another collective than its own, and make() says so to the user") {
  const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
  const Collective broadcast{CollectiveKind::broadcast, 4, Elements{10}, 0, false};
  REQUIRE(ring.refuses(broadcast, {}).has_value());
  CHECK_THROWS_AS(ring.make(broadcast, {}), ScenarioError);
}

TEST_CASE("a refusal names the algorithms that fit, of those that the caller can carry out") {
  const Algorithm& grid = find(CollectiveKind::all_reduce, "torus_2d");
  const Collective collective{CollectiveKind::all_reduce, 8, Elements{10}, 0, false};
  const Layout layout{.shape = GridShape{{2, 2, 2}}};
  CHECK_FALSE(refusal_with_alternatives(grid, collective, Layout{.shape = GridShape{{4, 2}}}).has_value());
  const Problem refused = refusal_with_alternatives(grid, collective, layout).value();
  CHECK(refused.code == "algorithm-does-not-fit");
  CHECK(refused.message.find("torus_2d does not fit: ") == 0);
  CHECK(refused.hint.find("these fit: ring, ") == 0);
  CHECK(refused.hint.find("torus_3d") != std::string::npos);
  CHECK(refused.hint.find("torus_2d") == std::string::npos);
  const auto one = [](const Algorithm& algorithm) { return algorithm.name == "nvls"; };
  CHECK(refusal_with_alternatives(grid, collective, layout, one).value().hint == "these fit: nvls");
  const auto none = [](const Algorithm&) { return false; };
  CHECK(refusal_with_alternatives(grid, collective, layout, none).value().hint == "no algorithm fits");
}

TEST_CASE("what no algorithm can do is refused without alternatives") {
  const Collective collective{CollectiveKind::broadcast, 6, Elements{10}, 9, false};
  const Problem refused = refusal_with_alternatives(find(CollectiveKind::broadcast, "ring"), collective, {}).value();
  CHECK(refused.message.find("root 9") == 0);
  CHECK(refused.hint.empty());
}

TEST_CASE("engines are agents beyond the ranks where there are several: one, or those of nodes and their heads") {
  for (const Algorithm& algorithm : catalog()) {
    const auto schedule = algorithm.make(sample(algorithm.kind, 4, 10), {});
    CHECK(schedule->agent_count().ranks == 4);
    CHECK(schedule->agent_count().agents == 4 + engines(algorithm.engine));
    CHECK(algorithm.make(sample(algorithm.kind, 1, 10), {})->agent_count().agents == 1);
  }
}

}  // namespace athanor
