#include "algorithms/formats/table_schedule.hpp"

#include <algorithm>
#include <map>

#include "sim/check.hpp"

namespace athanor {

namespace {

using Signature = std::vector<std::uint32_t>;

std::uint32_t kind_of(const std::optional<TableCells>& cells) {
  return cells ? static_cast<std::uint32_t>(cells->buffer) + 1 : 0;
}

/// All that lanes of one program have in common. A wait counts by the distance of its lane, modulo 2^32.
Signature signature(const Table& table, const TableLane& lane, std::uint32_t id) {
  Signature all{lane.in_ports, lane.out_ports};
  for (std::uint32_t i = lane.first_step; i < lane.first_step + lane.steps; ++i) {
    const TableStep& step = table.steps[i];
    const TableWait wait = step.wait.value_or(TableWait{});
    all.insert(all.end(), {step.chunks, kind_of(step.operands[0]), kind_of(step.operands[1]), kind_of(step.store),
                           step.receives.first, step.receives.count, step.sends.first, step.sends.count,
                           step.finish ? 1U : 0U, step.wait ? 1U : 0U, step.wait ? wait.lane - id : 0U, wait.step});
  }
  return all;
}

}  // namespace

void number_programs(Table& table) {
  std::map<Signature, std::uint32_t> programs;
  for (std::size_t rank = 0; rank + 1 < table.first_lane.size(); ++rank) {
    for (std::uint32_t i = table.first_lane[rank]; i < table.first_lane[rank + 1]; ++i) {
      const auto next = static_cast<std::uint32_t>(programs.size());
      const auto found = programs.emplace(signature(table, table.lanes[i], i - table.first_lane[rank]), next).first;
      table.lanes[i].program = ProgramId{found->second};
    }
  }
}

TableSchedule::TableSchedule(std::shared_ptr<const Table> table, Elements chunk, Elements piece)
    : table_(std::move(table)), chunk_(chunk), piece_(std::max(Elements{1}, std::min(chunk, piece))) {
  require(chunk >= Elements::zero() && piece > Elements::zero(), "chunks of {} elements in pieces of {}", chunk.count(),
          piece.count());
  loops_ = static_cast<std::uint64_t>(std::max<std::int64_t>(1, ceil_div(chunk_.count(), piece_.count())));
  for (const TableStep& step : table_->steps) {
    if (step.receives.count + step.sends.count > 0) { most_chunks_ = std::max(most_chunks_, step.chunks); }
  }
}

std::uint32_t TableSchedule::lanes(AgentId agent) const {
  return table_->first_lane[agent.value + 1] - table_->first_lane[agent.value];
}

Lane TableSchedule::lane(AgentId agent, LaneId lane) const {
  const TableLane& found = table_lane(agent, lane);
  return {found.steps, loops_, found.in_ports, found.out_ports, found.program};
}

Memory TableSchedule::memory(AgentId agent) const {
  const TableMemory& memory = table_->memories[agent.value];
  Memory result{chunk_ * memory.input, chunk_ * memory.output, chunk_ * memory.scratch, {}};
  if (memory.in_place) { result.in_place = (chunk_ * *memory.in_place).count(); }
  return result;
}

Endpoint TableSchedule::target(AgentId agent, LaneId lane, PortId out) const {
  return table_->targets[table_lane(agent, lane).first_out + out.value];
}

Endpoint TableSchedule::source(AgentId agent, LaneId lane, PortId in) const {
  return table_->sources[table_lane(agent, lane).first_in + in.value];
}

/// In one loop chunks are contiguous; in several a piece of each is a run.
Cells TableSchedule::cells(const TableCells& cells, std::uint32_t chunks, Elements offset, Elements length) const {
  const Elements first = chunk_ * cells.first + offset;
  if (chunks <= 1 || loops_ == 1) { return {cells.buffer, first, Elements::zero(), Elements::zero()}; }
  return {cells.buffer, first, length, chunk_};
}

Primitive TableSchedule::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const {
  const TableStep& found = table_->steps[table_lane(agent, lane).first_step + step];
  const Elements offset = piece_ * static_cast<std::int64_t>(loop);
  const Elements length = std::min(piece_, chunk_ - offset);
  Primitive primitive;
  primitive.count = length * found.chunks;
  for (std::size_t i = 0; i < 2; ++i) {
    if (found.operands[i]) { primitive.operands[i] = cells(*found.operands[i], found.chunks, offset, length); }
  }
  if (found.store) { primitive.store = cells(*found.store, found.chunks, offset, length); }
  primitive.receives = found.receives;
  primitive.sends = found.sends;
  primitive.finish = found.finish;
  if (found.wait) {
    const std::uint64_t before = loop * table_lane(agent, LaneId{found.wait->lane}).steps;
    primitive.wait = Wait{LaneId{found.wait->lane}, before + found.wait->step + 1};
  }
  return primitive;
}

}  // namespace athanor
