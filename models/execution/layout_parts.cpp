#include "models/execution/layout_parts.hpp"

#include <set>

namespace athanor {

namespace {

bool all_or_none(const Ports& used, std::uint32_t ports) { return used.count == 0 || used.count == ports; }

}  // namespace

void LikePorts::find(MappedSchedule::Lane& lane, ProgramId program) {
  const auto [entry, fresh] = known_.try_emplace(program);
  if (fresh) { entry->second = look(lane); }
  lane.symmetric_inputs = entry->second.ins;
  lane.symmetric_outputs = entry->second.outs;
}

LikePorts::Sides LikePorts::look(const MappedSchedule::Lane& lane) const {
  Sides sides;
  if (lane.loops == 0 || (lane.in_ports <= 1 && lane.out_ports <= 1)) { return sides; }
  for (const std::uint64_t loop : std::set<std::uint64_t>{0, lane.loops - 1}) {
    for (std::uint32_t step = 0; step < lane.steps && (sides.ins || sides.outs); ++step) {
      const Primitive primitive = schedule_.at(lane.agent, lane.lane, loop, step);
      sides.ins = sides.ins && all_or_none(primitive.receives, lane.in_ports);
      sides.outs = sides.outs && all_or_none(primitive.sends, lane.out_ports);
    }
  }
  return sides;
}

RouteRequest route_request(const Schedule& schedule, const Placement& placement, AgentId from, LaneId lane, PortId port,
                           AgentId to) {
  const std::uint64_t flow = (placement.seed << 32U) ^ (std::uint64_t{lane.value} << 8U) ^ port.value;
  RouteRequest request{placement.vertices[from.value], placement.vertices[to.value], flow};
  const std::uint32_t channel = schedule.channel(from, lane);
  request.channel = channel + port.value;
  if (!placement.nic_users.empty()) {
    request.nics = nics_between(placement.nic_users[from.value], placement.nic_users[to.value], channel);
  }
  return request;
}

}  // namespace athanor
