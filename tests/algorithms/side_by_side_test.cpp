#include "algorithms/combine/side_by_side.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/check/prove.hpp"
#include "algorithms/combine/embed.hpp"
#include "algorithms/combine/sequence.hpp"
#include "algorithms/combine/unfinished.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

using enum CollectiveKind;
using Part = std::unique_ptr<const Schedule>;

Part make(CollectiveKind kind, std::string_view name, std::uint32_t ranks, std::int64_t count, bool in_place = false,
          const Layout& layout = {}) {
  return find(kind, name).make({kind, ranks, Elements{count}, 0, in_place}, layout);
}

std::string refuted(const Schedule& schedule, const Collective& collective) {
  const auto violation = prove(schedule, collective);
  return violation ? explain(schedule.roster(), *violation) : "";
}

}  // namespace

// Sums in three groups of different sizes by different algorithms at the same time, then over their leaders, then back:
// if programs, ports, waits or memory of the parts got mixed up anywhere, this were no all-reduce.
TEST_CASE("reductions side by side, an all-reduce of the leaders, and broadcasts side by side are an all-reduce") {
  const std::int64_t count = 24;
  const std::vector<std::vector<std::uint32_t>> groups{{0, 3, 5}, {8, 1, 2, 7}, {4, 6}};
  for (const Layout& layout : {Layout{}, Layout{2, Elements{3}, 1, Elements{1}}}) {
    const auto part = [&](CollectiveKind kind, std::string_view name, std::size_t group, bool in_place) {
      Part made = make(kind, name, static_cast<std::uint32_t>(groups[group].size()), count, in_place, layout);
      return SidePart{kind == reduce ? unfinished(std::move(made)) : std::move(made), groups[group]};
    };
    Part sums = side_by_side({part(reduce, "ring", 0, false), part(reduce, "aggregation_tree", 1, false),
                              part(reduce, "aggregation_tree", 2, false)},
                             9);
    CHECK(sums->roster().agents == 11);
    Part leaders = embed(make(all_reduce, "ring", 3, count, true), {0, 8, 4}, 9);
    Part back = side_by_side({part(broadcast, "binomial_tree", 0, true), part(broadcast, "ring", 1, true),
                              part(broadcast, "aggregation_tree", 2, true)},
                             9);
    const Part all =
        sequence(sequence(std::move(sums), std::move(leaders), Join::after_all), std::move(back), Join::after_all);
    CHECK(refuted(*all, {all_reduce, 9, Elements{count}, 0, false}) == "");
  }
}

TEST_CASE("one schedule alone, over all ranks or among others that take no part, stays what it is") {
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind != all_reduce) { continue; }
    const Collective collective{all_reduce, 6, Elements{31}, 0, false};
    if (algorithm.refuses(collective, {})) { continue; }
    CAPTURE(algorithm.name);
    CHECK(refuted(*side_by_side({{algorithm.make(collective, {}), {4, 2, 0, 5, 1, 3}}}, 6), collective) == "");
  }
}

TEST_CASE("engines follow the ranks part by part, and parts of one schedule object share its programs") {
  const std::shared_ptr<const Schedule> tree = make(all_reduce, "aggregation_tree", 2, 8);
  const auto both = side_by_side({{tree, {0, 2}}, {tree, {3, 1}}, {make(all_reduce, "ring", 2, 8), {4, 6}}}, 7);
  CHECK(both->roster().agents == 9);
  CHECK(both->lanes(AgentId{5}) == 0);
  CHECK(both->target(AgentId{3}, LaneId{0}, PortId{0}).agent == AgentId{8});
  CHECK(both->source(AgentId{7}, LaneId{0}, PortId{1}).agent == AgentId{2});
  const auto program = [&](std::uint32_t agent) { return both->lane(AgentId{agent}, LaneId{0}).program; };
  CHECK(program(0) == program(3));
  CHECK(program(7) == program(8));
  CHECK(program(4) != program(0));
  CHECK(program(4) != program(7));
}

TEST_CASE("schedules side by side move in a buffer equally far, or nobody may ask how far") {
  const auto looped = [](std::int64_t chunk) {
    return make(all_reduce, "ring", 2, 48, false, {1, Elements{chunk}, 1, Elements{1}});
  };
  CHECK(side_by_side({{looped(4), {0, 1}}, {looped(4), {2, 3}}}, 4)->shift(Buffer::input) ==
        looped(4)->shift(Buffer::input));
  CHECK_THROWS_AS(side_by_side({{looped(4), {0, 1}}, {looped(2), {2, 3}}}, 4)->shift(Buffer::input), BrokenInvariant);
  CHECK_THROWS_AS(side_by_side({{looped(4), {0, 1}}, {looped(4), {1, 3}}}, 4), BrokenInvariant);
  CHECK_THROWS_AS(side_by_side({{looped(4), {0, 1, 2}}}, 4), BrokenInvariant);
  CHECK_THROWS_AS(side_by_side({{looped(4), {0, 4}}}, 4), BrokenInvariant);
  CHECK_THROWS_AS(side_by_side({}, 4), BrokenInvariant);
}

}  // namespace athanor
