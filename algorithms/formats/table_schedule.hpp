#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Where a step reads or writes, in chunks from the start of the buffer.
struct TableCells {
  std::uint32_t first = 0;
  Buffer buffer = Buffer::input;
  bool operator==(const TableCells&) const = default;
};

/// Until the step of that lane of the same agent has ended, in the same loop.
struct TableWait {
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
};

/// A primitive whose counts and addresses are whole chunks.
struct TableStep {
  std::uint32_t chunks = 0;
  std::optional<TableCells> operands[2];
  std::optional<TableCells> store;
  Ports receives;
  Ports sends;
  std::optional<TableWait> wait;
  bool finish = false;
};

/// One lane's part of the flat arrays of a Table.
struct TableLane {
  std::uint32_t first_step = 0;
  std::uint32_t steps = 0;
  std::uint32_t first_in = 0;
  std::uint32_t in_ports = 0;
  std::uint32_t first_out = 0;
  std::uint32_t out_ports = 0;
  ProgramId program;
  std::uint32_t channel = 0;
};

/// In chunks. `in_place`: the input is the output from this chunk on.
struct TableMemory {
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t scratch = 0;
  std::optional<std::int64_t> in_place;
};

/// An algorithm written out step by step, for a payload of any number of equal chunks.
struct Table {
  std::vector<std::uint32_t> first_lane;  ///< of each rank, and the number of lanes at the end
  std::vector<TableMemory> memories;      ///< of each rank
  std::vector<TableLane> lanes;
  std::vector<TableStep> steps;
  std::vector<Endpoint> sources;  ///< of the in-ports of all lanes
  std::vector<Endpoint> targets;  ///< of the out-ports of all lanes
  std::uint32_t least_slots = 1;

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(memories.size()); }
};

/// Gives lanes that do the same up to addresses and peers the same program.
void number_programs(Table& table);

/// A table, stretched to chunks of a number of elements. Each loop carries out the whole table on one piece of every
/// chunk; the last piece may be shorter. Memory does not grow with the payload, and tables are shared.
class TableSchedule : public Schedule {
 public:
  /// Requires chunk >= 0 and piece > 0; a piece beyond the chunk is the chunk.
  TableSchedule(std::shared_ptr<const Table> table, Elements chunk, Elements piece);

  AgentCount agent_count() const override { return {table_->ranks(), table_->ranks()}; }
  std::uint32_t lanes(AgentId agent) const override;
  Lane lane(AgentId agent, LaneId lane) const override;
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return table_lane(agent, lane).channel; }
  Memory memory(AgentId agent) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;
  Elements message_limit() const override { return piece_ * most_chunks_; }
  Elements shift(Buffer) const override { return piece_; }
  std::uint32_t least_slots() const override { return table_->least_slots; }

 private:
  const TableLane& table_lane(AgentId agent, LaneId lane) const {
    return table_->lanes[table_->first_lane[agent.value] + lane.value];
  }
  Cells cells(const TableCells& cells, std::uint32_t chunks, Elements offset, Elements length) const;

  std::shared_ptr<const Table> table_;
  Elements chunk_;
  Elements piece_;
  std::uint64_t loops_;
  std::uint32_t most_chunks_ = 0;  ///< of a step with a port
};

}  // namespace athanor
