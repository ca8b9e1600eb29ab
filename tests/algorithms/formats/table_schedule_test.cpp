#include "algorithms/formats/table_schedule.hpp"

#include <doctest/doctest.h>

#include "algorithms/proof/prove.hpp"

using namespace athanor;

namespace {

/// Rank 0 sends its two chunks to rank 1 at once; rank 1 keeps them and a second lane copies the first to scratch.
std::shared_ptr<Table> pair_broadcast() {
  auto table = std::make_shared<Table>();
  table->first_lane = {0, 1, 3};
  table->memories = {{2, 2, 0, {}}, {0, 2, 1, {}}};
  TableStep send{2, {TableCells{0, Buffer::input}, {}}, TableCells{0, Buffer::output}, {}, {0, 1}, {}, false};
  TableStep receive{2, {}, TableCells{0, Buffer::output}, {0, 1}, {}, {}, false};
  TableStep copy{1,    {TableCells{1, Buffer::output}, {}}, TableCells{0, Buffer::scratch}, {}, {}, TableWait{0, 0},
                 false};
  table->steps = {send, receive, copy};
  table->lanes = {{0, 1, 0, 0, 0, 1, {}}, {1, 1, 0, 1, 1, 0, {}}, {2, 1, 1, 0, 1, 0, {}}};
  table->sources = {{AgentId{0}, LaneId{0}, PortId{0}}};
  table->targets = {{AgentId{1}, LaneId{0}, PortId{0}}};
  number_programs(*table);
  return table;
}

}  // namespace

TEST_CASE("a table is right for every number of elements per chunk, in one loop and in several") {
  const auto table = pair_broadcast();
  for (const std::int64_t chunk : {0, 1, 2, 3, 7, 64}) {
    for (const std::int64_t piece : {1, 2, 3, 64, 1000}) {
      CAPTURE(chunk);
      CAPTURE(piece);
      const TableSchedule schedule(table, Elements{chunk}, Elements{piece});
      const Collective collective{CollectiveKind::broadcast, 2, Elements{2 * chunk}, 0, false};
      const auto violation = prove(schedule, collective, {.equal_counts = true});
      if (violation) { FAIL_CHECK(explain(schedule.agent_count(), *violation)); }
      const std::int64_t loops = std::max<std::int64_t>(1, ceil_div(chunk, piece));
      CHECK(schedule.lane(AgentId{0}, LaneId{0}).loops == static_cast<std::uint64_t>(loops));
    }
  }
}

TEST_CASE("lanes that differ in more than addresses have different programs") {
  const auto table = pair_broadcast();
  CHECK(table->lanes[0].program != table->lanes[1].program);
  CHECK(table->lanes[1].program != table->lanes[2].program);
  Table twins = *table;
  twins.steps[2] = twins.steps[1];
  twins.lanes[2] = {2, 1, 0, 1, 1, 0, {}};
  twins.steps[2].store->first = 1;
  number_programs(twins);
  CHECK(twins.lanes[1].program == twins.lanes[2].program);
  twins.steps[2].store->buffer = Buffer::scratch;
  number_programs(twins);
  CHECK(twins.lanes[1].program != twins.lanes[2].program);
}
