#include "tools/calibrate/sketch.hpp"

#include <algorithm>

namespace athanor {

std::uint32_t Sketch::lane(std::uint32_t rank) {
  lanes_[rank].emplace_back();
  return static_cast<std::uint32_t>(lanes_[rank].size() - 1);
}

void Sketch::connect(std::uint32_t from, std::uint32_t from_lane, std::uint32_t to, std::uint32_t to_lane) {
  std::vector<Endpoint>& targets = lanes_[from][from_lane].targets;
  std::vector<Endpoint>& sources = lanes_[to][to_lane].sources;
  const PortId out{static_cast<std::uint32_t>(targets.size())};
  const PortId in{static_cast<std::uint32_t>(sources.size())};
  targets.push_back({AgentId{to}, LaneId{to_lane}, in});
  sources.push_back({AgentId{from}, LaneId{from_lane}, out});
}

std::shared_ptr<const Table> Sketch::table(std::uint32_t slots) const {
  Table table;
  table.memories = memories_;
  table.least_slots = slots;
  for (const auto& lanes : lanes_) {
    table.first_lane.push_back(static_cast<std::uint32_t>(table.lanes.size()));
    for (const LaneSketch& lane : lanes) {
      table.lanes.push_back({.first_step = static_cast<std::uint32_t>(table.steps.size()),
                             .steps = static_cast<std::uint32_t>(lane.steps.size()),
                             .first_in = static_cast<std::uint32_t>(table.sources.size()),
                             .in_ports = static_cast<std::uint32_t>(lane.sources.size()),
                             .first_out = static_cast<std::uint32_t>(table.targets.size()),
                             .out_ports = static_cast<std::uint32_t>(lane.targets.size()),
                             .program = ProgramId{0}});
      table.steps.insert(table.steps.end(), lane.steps.begin(), lane.steps.end());
      table.sources.insert(table.sources.end(), lane.sources.begin(), lane.sources.end());
      table.targets.insert(table.targets.end(), lane.targets.begin(), lane.targets.end());
    }
  }
  table.first_lane.push_back(static_cast<std::uint32_t>(table.lanes.size()));
  number_programs(table);
  return std::make_shared<const Table>(std::move(table));
}

std::unique_ptr<const Schedule> Sketch::stretched(std::int64_t chunk, std::uint32_t slots) const {
  const Elements elements{chunk / 4};
  return std::make_unique<TableSchedule>(table(slots), elements, std::max(elements, Elements{1}));
}

}  // namespace athanor
