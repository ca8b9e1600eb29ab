#include "algorithms/proof/shared_cells.hpp"

namespace athanor {

SharedCells::SharedCells(const Schedule& schedule, const Wiring& wiring)
    : wiring_(wiring), awaited_(wiring.lanes.size()) {
  const std::uint32_t agents = schedule.agent_count().agents;
  cells_.resize(agents);
  for (std::uint32_t agent = 0; agent < agents; ++agent) {
    maps_.emplace_back(schedule.memory(AgentId{agent}));
    if (wiring.lanes_of(AgentId{agent}) > 1) { cells_[agent].resize(static_cast<std::size_t>(maps_.back().size())); }
  }
}

void SharedCells::on_primitive(const Execution& execution) {
  const std::uint32_t agent = wiring_.lanes[execution.lane].agent.value;
  const Primitive& primitive = execution.primitive;
  if (primitive.wait) { awaited_[wiring_.index(AgentId{agent}, primitive.wait->lane)] = true; }
  if (cells_[agent].empty()) { return; }
  for (const auto& operand : primitive.operands) {
    if (operand) { touch(agent, *operand, primitive.count, execution.lane, false); }
  }
  if (primitive.store) { touch(agent, *primitive.store, primitive.count, execution.lane, true); }
}

void SharedCells::touch(std::uint32_t agent, const Cells& cells, Elements count, std::uint32_t lane, bool write) {
  maps_[agent].each_run(cells, count, [&](std::int64_t first, std::int64_t length) {
    for (std::int64_t address = first; address < first + length; ++address) {
      Cell& cell = cells_[agent][static_cast<std::size_t>(address)];
      if (cell.lane == 0) { cell.lane = lane + 1; }
      cell.several = cell.several || cell.lane != lane + 1;
      cell.written = cell.written || write;
    }
  });
}

std::vector<std::uint32_t> SharedCells::shared(AgentId agent) const {
  const std::vector<Cell>& cells = cells_[agent.value];
  std::vector<std::uint32_t> numbers(cells.size());
  std::uint32_t count = 0;
  for (std::size_t address = 0; address < cells.size(); ++address) {
    if (cells[address].several && cells[address].written) { numbers[address] = ++count; }
  }
  return count > 0 ? numbers : std::vector<std::uint32_t>{};
}

}  // namespace athanor
