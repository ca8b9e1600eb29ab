#include "algorithms/schedule/concurrent.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/proof/prove.hpp"
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
  return violation ? explain(schedule.agent_count(), *violation) : "";
}

/// The same lane of an agent and of its role, whose peers are played by `played(role)`.
template <class Played>
void check_alike(const Schedule& all, AgentId agent, const Schedule& own, AgentId role, LaneId lane, Played played) {
  const auto outside = [&](Endpoint end) {
    end.agent = played(end.agent);
    return end;
  };
  const Lane shape = own.lane(role, lane);
  CHECK(all.lane(agent, lane).steps == shape.steps);
  CHECK(all.lane(agent, lane).loops == shape.loops);
  CHECK(all.channel(agent, lane) == own.channel(role, lane));
  for (PortId port{0}; port.value < shape.out_ports; ++port.value) {
    CHECK(all.target(agent, lane, port) == outside(own.target(role, lane, port)));
  }
  for (PortId port{0}; port.value < shape.in_ports; ++port.value) {
    CHECK(all.source(agent, lane, port) == outside(own.source(role, lane, port)));
  }
  for (std::uint64_t loop = 0; loop < shape.loops; ++loop) {
    for (std::uint32_t step = 0; step < shape.steps; ++step) {
      const Primitive mine = all.at(agent, lane, loop, step);
      const Primitive theirs = own.at(role, lane, loop, step);
      CHECK(mine.operands == theirs.operands);
      CHECK(mine.store == theirs.store);
      CHECK(mine.receives == theirs.receives);
      CHECK(mine.sends == theirs.sends);
    }
  }
}

}  // namespace

TEST_CASE("every agent does in a schedule beside others what its role does in its own, with the agents of that") {
  const std::vector<std::vector<std::uint32_t>> groups{{0, 3, 5}, {8, 1, 2, 7}, {4, 6}};
  for (const Layout& layout : {Layout{}, Layout{2, Elements{3}, 1, Elements{1}}}) {
    const std::vector<ConcurrentPart> parts{{make(reduce, "ring", 3, 24, false, layout), groups[0]},
                                            {make(reduce, "aggregation_tree", 4, 24, false, layout), groups[1]},
                                            {make(broadcast, "binomial_tree", 2, 24, true, layout), groups[2]}};
    const auto all = concurrent(parts, 9);
    const AgentMapping agents = agent_mapping(parts, 9);
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      const Schedule& own = *parts[part].schedule;
      for (AgentId role{0}; role.value < own.agent_count().agents; ++role.value) {
        const AgentId agent = agents.agent(part, role);
        CHECK(agents.role(agent)->part == part);
        CHECK(agents.role(agent)->agent == role);
        CHECK(all->memory(agent).scratch == own.memory(role).scratch);
        REQUIRE(all->lanes(agent) == own.lanes(role));
        for (LaneId lane{0}; lane.value < own.lanes(role); ++lane.value) {
          check_alike(*all, agent, own, role, lane, [&](AgentId other) { return agents.agent(part, other); });
        }
      }
    }
  }
}

TEST_CASE("one schedule alone, over all ranks or among others that take no part, stays what it is") {
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.kind != all_reduce) { continue; }
    const Collective collective{all_reduce, 6, Elements{31}, 0, false};
    if (algorithm.refuses(collective, {})) { continue; }
    CAPTURE(algorithm.name);
    CHECK(refuted(*concurrent({{algorithm.make(collective, {}), {4, 2, 0, 5, 1, 3}}}, 6), collective) == "");
  }
}

TEST_CASE("engines follow the ranks part by part, and parts of one schedule object share its programs") {
  const std::shared_ptr<const Schedule> tree = make(all_reduce, "aggregation_tree", 2, 8);
  const auto both = concurrent({{tree, {0, 2}}, {tree, {3, 1}}, {make(all_reduce, "ring", 2, 8), {4, 6}}}, 7);
  CHECK(both->agent_count().agents == 9);
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
  CHECK(concurrent({{looped(4), {0, 1}}, {looped(4), {2, 3}}}, 4)->shift(Buffer::input) ==
        looped(4)->shift(Buffer::input));
  CHECK_THROWS_AS(concurrent({{looped(4), {0, 1}}, {looped(2), {2, 3}}}, 4)->shift(Buffer::input), BrokenInvariant);
  CHECK_THROWS_AS(concurrent({{looped(4), {0, 1}}, {looped(4), {1, 3}}}, 4), BrokenInvariant);
  CHECK_THROWS_AS(concurrent({{looped(4), {0, 1, 2}}}, 4), BrokenInvariant);
  CHECK_THROWS_AS(concurrent({{looped(4), {0, 4}}}, 4), BrokenInvariant);
  CHECK_THROWS_AS(concurrent({}, 4), BrokenInvariant);
}

}  // namespace athanor
