#include "algorithms/schedule/reversed.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/proof/prove.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

using enum CollectiveKind;

/// An algorithm whose schedule can be run backwards.
struct Reversible {
  CollectiveKind kind;
  std::string_view name;
  CollectiveKind backwards;
};
const std::vector<Reversible> kReversible{{all_gather, "ring", reduce_scatter},  {all_gather, "direct", reduce_scatter},
                                          {all_gather, "bruck", reduce_scatter}, {broadcast, "ring", reduce},
                                          {scatter, "linear", gather},           {scatter, "binomial_tree", gather}};

/// How many steps are one whole.
std::uint32_t together(const Reversible& algorithm, const Layout& layout) {
  return algorithm.kind == all_gather && algorithm.name == "ring" ? layout.slices : 1;
}

std::unique_ptr<const Schedule> forwards(const Reversible& algorithm, const Collective& backwards,
                                         const Layout& layout) {
  return find(algorithm.kind, algorithm.name).make(dual_of(backwards), layout);
}

/// visit(algorithm, collective backwards, layout) over small shapes, out of place and in place.
template <class Visit>
void each_case(Visit visit) {
  const std::vector<Layout> layouts{{}, {3}, {2, Elements{3}, 3, Elements{1}}, {2, Elements{4}, 2, Elements{2}, 1}};
  for (const Reversible& algorithm : kReversible) {
    for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
      for (std::uint32_t root = 0; root < (has_root(algorithm.kind) ? ranks : 1); ++root) {
        for (const Layout& layout : layouts) {
          for (const std::int64_t count : {0, 1, 37}) {
            for (const bool in_place : {false, true}) {
              CAPTURE(algorithm.name);
              CAPTURE(name(algorithm.backwards));
              CAPTURE(ranks);
              CAPTURE(root);
              CAPTURE(count);
              visit(algorithm, Collective{algorithm.backwards, ranks, Elements{count}, root, in_place}, layout);
            }
          }
        }
      }
    }
  }
}

/// visit(agent, lane, its shape) for all lanes.
template <class Visit>
void each_lane(const Schedule& schedule, Visit visit) {
  for (AgentId agent{0}; agent.value < schedule.agent_count().agents; ++agent.value) {
    for (LaneId lane{0}; lane.value < schedule.lanes(agent); ++lane.value) {
      visit(agent, lane, schedule.lane(agent, lane));
    }
  }
}

bool equal(const Primitive& a, const Primitive& b) {
  return a.count == b.count && a.operands == b.operands && a.receives == b.receives && a.sends == b.sends &&
         a.finish == b.finish && a.store == b.store;
}

bool equal(const Schedule& a, const Schedule& b) {
  bool same = true;
  each_lane(a, [&](AgentId agent, LaneId lane, const Lane& shape) {
    for (std::uint64_t loop = 0; loop < shape.loops; ++loop) {
      for (std::uint32_t step = 0; step < shape.steps; ++step) {
        same = same && equal(a.at(agent, lane, loop, step), b.at(agent, lane, loop, step));
      }
    }
  });
  return same;
}

}  // namespace

TEST_CASE("what distributes or gathers copies is, backwards, proven to reduce or gather") {
  each_case([](const Reversible& algorithm, const Collective& collective, const Layout& layout) {
    const auto schedule = reversed(forwards(algorithm, collective, layout), collective, together(algorithm, layout));
    const auto violation = prove(*schedule, collective);
    CHECK((violation ? explain(schedule->agent_count(), *violation) : "") == "");
  });
}

TEST_CASE("backwards every connection leads the other way, from the same port to the same port") {
  each_case([](const Reversible& algorithm, const Collective& collective, const Layout& layout) {
    const auto before = forwards(algorithm, collective, layout);
    const auto after = reversed(forwards(algorithm, collective, layout), collective, together(algorithm, layout));
    bool turned = true;
    each_lane(*before, [&](AgentId agent, LaneId lane, const Lane& shape) {
      const Lane back = after->lane(agent, lane);
      turned = turned && back.in_ports == shape.out_ports && back.out_ports == shape.in_ports;
      turned = turned && back.steps == shape.steps && back.loops == shape.loops && back.program == shape.program;
      for (PortId port{0}; port.value < shape.out_ports; ++port.value) {
        turned = turned && after->source(agent, lane, port) == before->target(agent, lane, port);
      }
    });
    CHECK(turned);
  });
}

TEST_CASE("backwards twice is forwards, where no sum stands in scratch") {
  each_case([](const Reversible& algorithm, const Collective& collective, const Layout& layout) {
    if (algorithm.name == "bruck") { return; }
    const std::uint32_t whole = together(algorithm, layout);
    const auto once = forwards(algorithm, collective, layout);
    Collective backwards = collective;
    backwards.in_place = false;
    const auto twice =
        reversed(reversed(forwards(algorithm, collective, layout), backwards, whole), dual_of(collective), whole);
    CHECK(equal(*once, *twice));
  });
}

TEST_CASE("a broadcast whose ranks send what they stored again is no reduction backwards, and the proof says so") {
  const Collective collective{reduce, 8, Elements{24}};
  const Reversible tree{broadcast, "binomial_tree", reduce};
  CHECK(prove(*reversed(forwards(tree, collective, {}), collective), collective).has_value());
}

TEST_CASE("lanes that wait cannot be run backwards, and an all-reduce is nothing else backwards") {
  const Collective collective{reduce_scatter, 16, Elements{64}};
  const auto torus = reversed(forwards({all_gather, "torus", reduce_scatter}, collective, {}), collective);
  const std::uint32_t last = torus->lane(AgentId{0}, LaneId{1}).steps - 1;
  CHECK_THROWS_AS(torus->at(AgentId{0}, LaneId{1}, 0, last), BrokenInvariant);
  CHECK_THROWS_AS(dual_of({all_reduce, 4, Elements{8}}), BrokenInvariant);
}

}  // namespace athanor
