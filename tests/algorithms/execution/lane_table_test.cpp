#include "algorithms/execution/cuda/lane_table.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"

using namespace athanor;

namespace {

bool same(const LaneTables::CellRange& range, const std::optional<Cells>& cells) {
  if (!cells) { return range.buffer == LaneTables::kNone; }
  return range.buffer == static_cast<std::uint32_t>(cells->buffer) && range.first == cells->first.count() &&
         range.run == cells->run.count() && range.stride == cells->stride.count();
}

/// What the interpreter makes of a table: lane `lane`, at a loop and step. The same as Schedule::at, with connections
/// for ports and lanes of the tables for those of the agent.
LaneTables::Entry entry_at(const LaneTables& tables, std::uint32_t lane, std::uint64_t loop, std::uint32_t step) {
  const LaneTables::Lane& self = tables.lanes[lane];
  if (loop + 1 == self.loops) { return tables.entries[self.tail + step]; }
  LaneTables::Entry entry = tables.entries[self.body + step];
  const auto move = [&](LaneTables::CellRange& range) {
    if (range.buffer != LaneTables::kNone) {
      range.first += static_cast<std::int64_t>(loop) * tables.shift[range.buffer];
    }
  };
  move(entry.operands[0]);
  move(entry.operands[1]);
  move(entry.store);
  if (entry.wait_lane != LaneTables::kNone) {
    const auto loops_before_last = static_cast<std::int64_t>(self.loops - 2 - loop);
    entry.wait_ended = std::max<std::int64_t>(
        0, entry.wait_ended - loops_before_last * std::int64_t{tables.lanes[entry.wait_lane].steps});
  }
  return entry;
}

/// Compares a whole schedule with what its tables say; the number of primitives compared.
std::uint64_t compare(const Schedule& schedule, const LaneTables& tables) {
  std::uint64_t compared = 0;
  std::uint32_t first_lane = 0;
  for (AgentId agent{0}; agent.value < schedule.agent_count().agents; ++agent.value) {
    const std::uint32_t lanes = schedule.lanes(agent);
    for (LaneId id{0}; id.value < lanes; ++id.value) {
      const Lane lane = schedule.lane(agent, id);
      for (std::uint64_t loop = 0; loop < lane.loops; ++loop) {
        for (std::uint32_t step = 0; step < lane.steps; ++step, ++compared) {
          const Primitive primitive = schedule.at(agent, id, loop, step);
          const LaneTables::Entry entry = entry_at(tables, first_lane + id.value, loop, step);
          REQUIRE(entry.count == primitive.count.count());
          REQUIRE(same(entry.operands[0], primitive.operands[0]));
          REQUIRE(same(entry.operands[1], primitive.operands[1]));
          REQUIRE(same(entry.store, primitive.store));
          REQUIRE(entry.receives == primitive.receives.count);
          REQUIRE(entry.sends == primitive.sends.count);
          REQUIRE((entry.finish == 1) == primitive.finish);
          REQUIRE((entry.wait_lane != LaneTables::kNone) == primitive.wait.has_value());
          if (!primitive.wait) { continue; }
          REQUIRE(entry.wait_lane == first_lane + primitive.wait->lane.value);
          REQUIRE(entry.wait_ended == static_cast<std::int64_t>(primitive.wait->ended));
        }
      }
    }
    first_lane += lanes;
  }
  return compared;
}

}  // namespace

TEST_CASE("tables of one loop and the last one say the same as the schedule in every loop") {
  std::uint64_t compared = 0;
  for (const Algorithm& algorithm : catalog()) {
    for (const std::uint32_t ranks : {1U, 2U, 5U, 8U}) {
      for (const Layout& layout : {Layout{}, Layout{2, Elements{3}, 2}, Layout{3, Elements{7}, 1},
                                   Layout{.chunk = Elements{2}, .shape = EngineTreeShape{.outstanding = 3}}}) {
        const Collective collective{algorithm.kind, ranks, Elements{97}};
        if (algorithm.refuses(collective, layout)) { continue; }
        CAPTURE(algorithm.name);
        CAPTURE(ranks);
        const auto schedule = algorithm.make(collective, layout);
        const LaneTables tables = tabulate_lanes(*schedule);
        compared += compare(*schedule, tables);
        for (std::uint32_t c = 0; c < tables.connections.size(); ++c) {
          CHECK(tables.connections[c].target_lane < tables.lanes.size());
        }
      }
    }
  }
  CHECK(compared > 10'000);
}

TEST_CASE("tables do not grow with the number of loops") {
  const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
  const auto entries = [&](std::int64_t count) {
    const Collective collective{CollectiveKind::all_reduce, 4, Elements{count}};
    return tabulate_lanes(*ring.make(collective, {1, Elements{16}})).entries.size();
  };
  CHECK(entries(64 * 1000) == entries(64 * 2));
}
