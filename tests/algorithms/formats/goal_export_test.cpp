#include "algorithms/formats/goal_export.hpp"

#include <numeric>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/algorithms/formats/catalog_sweep.hpp"
#include "tests/algorithms/formats/goal_reader.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

struct Exported {
  GoalSummary summary;
  std::string text;
};

Exported exported(const Schedule& schedule, const GoalOptions& options = {}) {
  Exported result;
  result.summary = export_goal(schedule, options, [&](std::string_view part) { result.text += part; });
  return result;
}

/// Counted primitive by primitive.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t empty = 0;
  std::int64_t elements = 0;
  std::int64_t reduced = 0;
};

Traffic traffic(const Schedule& schedule) {
  Traffic all;
  toys::tabulate(schedule).each_primitive([&](auto, auto, auto, const Primitive& primitive) {
    all.messages += primitive.sends.count;
    all.empty += primitive.count == Elements::zero() ? primitive.sends.count : 0;
    all.elements += primitive.count.count() * primitive.sends.count;
    if (primitive.inputs() > 1) { all.reduced += primitive.count.count() * (primitive.inputs() - 1); }
  });
  return all;
}

}  // namespace

TEST_CASE("in GOAL every send of the catalog meets one receive of its size, and all operations can be carried out") {
  const auto uneven = [](Elements granule) { return granule * 2 + Elements{1}; };
  sweep_catalog(uneven, [&](const Algorithm& algorithm, const Collective& collective, const Layout& layout) {
    if (algorithm.engine != Engine::none) { return; }
    CAPTURE(text(algorithm, collective, layout));
    const auto schedule = algorithm.make(collective, layout);
    // One reduced element of 4 bytes takes 8 ns.
    const Exported goal = exported(*schedule, {.element_bytes = 4, .reduced_per_second = 500'000'000});
    const auto ranks = read_goal(goal.text);
    const Traffic expected = traffic(*schedule);
    const GoalMessages sent = goal_messages(ranks, GoalOperation::Kind::send);
    CHECK(sent == goal_messages(ranks, GoalOperation::Kind::receive));
    CHECK(sent.size() == expected.messages);
    CHECK(goal.summary.messages == expected.messages);
    CHECK(goal.summary.empty == expected.empty);
    CHECK(goal.summary.bytes == static_cast<std::uint64_t>(4 * expected.elements));
    std::int64_t bytes = 0;
    for (const auto& [key, sizes] : sent) { bytes += sizes.at(0); }
    CHECK(bytes == 4 * expected.elements + static_cast<std::int64_t>(expected.empty));
    std::int64_t calculated = 0;
    std::size_t operations = 0;
    for (const auto& rank : ranks) {
      operations += rank.size();
      for (const GoalOperation& each : rank) {
        if (each.kind == GoalOperation::Kind::calc) { calculated += each.amount; }
      }
    }
    CHECK(calculated == 8 * expected.reduced);
    CHECK(goal.summary.operations == operations);
    CHECK(goal_progress(ranks, false) == operations);
    CHECK(goal_progress(ranks, true) == operations);
  });
}

TEST_CASE("a message to a rank has a tag that no other message to this rank has") {
  sweep_catalog([](Elements granule) { return granule; },
                [&](const Algorithm& algorithm, const Collective& collective, const Layout& layout) {
                  if (algorithm.engine != Engine::none) { return; }
                  CAPTURE(text(algorithm, collective, layout));
                  const auto ranks = read_goal(exported(*algorithm.make(collective, layout)).text);
                  for (const auto& rank : ranks) {
                    std::map<std::uint32_t, int> tags;
                    for (const GoalOperation& each : rank) {
                      if (each.kind == GoalOperation::Kind::receive) { CHECK(++tags[each.tag] == 1); }
                    }
                  }
                });
}

TEST_CASE("a wait for a lane that is written later is a dependency all the same") {
  toys::Chain chain = toys::chain_broadcast();
  std::swap(chain.table.agents[1][0], chain.table.agents[1][1]);
  chain.table.lane(1, 0).primitives[0].wait = Wait{LaneId{1}, 1};
  chain.table.lane(0, 0).targets[0].lane = LaneId{1};
  chain.table.lane(2, 0).sources[0].lane = LaneId{0};
  const auto ranks = read_goal(exported(chain.table).text);
  REQUIRE(ranks[1].size() == 3);
  CHECK(ranks[1][0].kind == GoalOperation::Kind::send);
  CHECK(ranks[1][0].required == std::vector<std::size_t>{2});
  CHECK(goal_progress(ranks, true) == 1 + 3 + 2);
}

TEST_CASE("without a rate reductions take no time, and a rate rounds up to whole nanoseconds") {
  Collective collective{CollectiveKind::reduce, 2, Elements{3}, 0, false};
  const auto schedule = find(CollectiveKind::reduce, "binomial_tree").make(collective, {});
  const auto calculated = [&](std::int64_t rate) {
    std::int64_t sum = 0;
    for (const auto& rank : read_goal(exported(*schedule, {4, rate}).text)) {
      for (const GoalOperation& each : rank) { sum += each.kind == GoalOperation::Kind::calc ? each.amount : 0; }
    }
    return sum;
  };
  CHECK(calculated(0) == 0);
  CHECK(calculated(12'000'000'000) == 1);
  CHECK(calculated(11'999'999'999) == 2);
  CHECK(calculated(1) == 12'000'000'000);
}

TEST_CASE("GOAL knows no engines") {
  const Collective collective{CollectiveKind::all_reduce, 4, Elements{8}, 0, false};
  CHECK_THROWS_AS(exported(*find(CollectiveKind::all_reduce, "nvls").make(collective, {})), ScenarioError);
}
