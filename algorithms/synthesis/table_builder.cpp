#include "algorithms/synthesis/table_builder.hpp"

#include <utility>

#include "algorithms/schedule/contract.hpp"

namespace athanor {

namespace {

std::uint32_t whole(Elements elements) { return static_cast<std::uint32_t>(elements.count()); }

}  // namespace

TableBuilder::TableBuilder(const Collective& collective) : lanes_(collective.ranks) {
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    const Memory memory = user_memory(collective, rank);
    memories_.push_back({whole(memory.input), whole(memory.output), 0, memory.in_place});
  }
}

/// In place, a place in the input that is one of the output is called so.
TableCells TableBuilder::own(std::uint32_t rank, TableCells cells, std::uint32_t chunks) const {
  const TableMemory& memory = memories_[rank];
  if (!memory.in_place || cells.buffer != Buffer::input) { return cells; }
  const std::int64_t shared = cells.first + *memory.in_place;
  if (shared < 0 || shared + chunks > memory.output) { return cells; }
  return {static_cast<std::uint32_t>(shared), Buffer::output};
}

std::uint32_t TableBuilder::lane(std::map<Wire, std::uint32_t>& lanes, std::uint32_t rank, const Message& message,
                                 bool sends) {
  const auto next = static_cast<std::uint32_t>(lanes_[rank].size());
  const auto [found, is_new] = lanes.emplace(Wire{message.from, message.to, message.stage}, next);
  if (is_new) {
    OpenLane& open = lanes_[rank].emplace_back();
    (sends ? open.to : open.from) = sends ? message.to : message.from;
    open.stage = message.stage;
  }
  return found->second;
}

TableBuilder::Step TableBuilder::add(std::uint32_t rank, std::uint32_t lane, TableStep step, std::optional<Step> wait) {
  if (wait && wait->lane != lane) { step.wait = TableWait{wait->lane, wait->step}; }
  std::vector<TableStep>& steps = lanes_[rank][lane].steps;
  steps.push_back(step);
  return {lane, static_cast<std::uint32_t>(steps.size() - 1)};
}

TableBuilder::Step TableBuilder::send(const Message& message, TableCells source, std::optional<Step> wait) {
  TableStep step{.chunks = message.chunks, .operands = {}, .store = {}, .receives = {}, .sends = {0, 1}, .wait = {}};
  step.operands[0] = own(message.from, source, message.chunks);
  return add(message.from, lane(senders_, message.from, message, true), step, wait);
}

TableBuilder::Step TableBuilder::receive(const Message& message, TableCells target, std::optional<TableCells> added,
                                         std::optional<Step> wait) {
  TableStep step{.chunks = message.chunks, .operands = {}, .store = {}, .receives = {0, 1}, .sends = {}, .wait = {}};
  if (added) { step.operands[0] = own(message.to, *added, message.chunks); }
  step.store = own(message.to, target, message.chunks);
  return add(message.to, lane(receivers_, message.to, message, false), step, wait);
}

void TableBuilder::copy(std::uint32_t rank, std::uint32_t chunks, TableCells source, TableCells target) {
  source = own(rank, source, chunks);
  if (source == target) { return; }
  TableStep step{.chunks = chunks, .operands = {}, .store = target, .receives = {}, .sends = {}, .wait = {}};
  step.operands[0] = source;
  lanes_[rank].emplace_back().steps.push_back(step);
}

TableCells TableBuilder::scratch(std::uint32_t rank, std::uint32_t chunks) {
  const std::uint32_t first = memories_[rank].scratch;
  memories_[rank].scratch += chunks;
  return {first, Buffer::scratch};
}

Table TableBuilder::build() && {
  Table table;
  table.memories = std::move(memories_);
  for (std::uint32_t rank = 0; rank < lanes_.size(); ++rank) {
    table.first_lane.push_back(static_cast<std::uint32_t>(table.lanes.size()));
    for (const OpenLane& open : lanes_[rank]) {
      TableLane& lane = table.lanes.emplace_back();
      lane.first_step = static_cast<std::uint32_t>(table.steps.size());
      lane.steps = static_cast<std::uint32_t>(open.steps.size());
      lane.first_in = static_cast<std::uint32_t>(table.sources.size());
      lane.first_out = static_cast<std::uint32_t>(table.targets.size());
      if (open.from) {
        lane.in_ports = 1;
        table.sources.push_back({AgentId{*open.from}, LaneId{senders_.at({*open.from, rank, open.stage})}, PortId{0}});
      }
      if (open.to) {
        lane.out_ports = 1;
        table.targets.push_back({AgentId{*open.to}, LaneId{receivers_.at({rank, *open.to, open.stage})}, PortId{0}});
      }
      lane.channel =
          table.first_lane.empty() ? 0 : static_cast<std::uint32_t>(table.lanes.size() - 1) - table.first_lane.back();
      table.steps.insert(table.steps.end(), open.steps.begin(), open.steps.end());
    }
  }
  table.first_lane.push_back(static_cast<std::uint32_t>(table.lanes.size()));
  number_programs(table);
  return table;
}

}  // namespace athanor
