#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/proof/violation.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

struct WiredLane {
  AgentId agent;
  LaneId lane;
  Lane shape;
  std::uint32_t first_in = 0;   ///< connection of its in-port 0; the others follow
  std::uint32_t first_out = 0;  ///< index in Wiring::outgoing of its out-port 0; the others follow

  std::uint64_t primitives() const { return shape.loops * shape.steps; }
  /// Of its primitives, counted over all loops, the one of that number: where it stands, and what it is.
  StepPlace place(std::uint64_t index) const;
  Primitive at(const Schedule& schedule, std::uint64_t index) const {
    return schedule.at(agent, lane, index / shape.steps, static_cast<std::uint32_t>(index % shape.steps));
  }
};

/// All lanes of a schedule in one numbering, (agent, lane) ascending, and the connections between them, numbered by
/// their in-port.
struct Wiring {
  std::vector<WiredLane> lanes;
  std::vector<std::uint32_t> first_lane;  ///< of each agent, and the total at the end
  std::vector<std::uint32_t> outgoing;    ///< connection of each out-port
  std::vector<std::uint32_t> senders;     ///< lane at the out-port of each connection
  std::vector<std::uint32_t> receivers;   ///< lane at the in-port of each connection

  std::uint32_t index(AgentId agent, LaneId lane) const { return first_lane[agent.value] + lane.value; }
  std::uint32_t lanes_of(AgentId agent) const { return first_lane[agent.value + 1] - first_lane[agent.value]; }
};

/// Fills `wiring`. The first port whose target and source are not inverse, or lie outside the schedule.
std::optional<Violation> wire(const Schedule& schedule, Wiring& wiring);

}  // namespace athanor
