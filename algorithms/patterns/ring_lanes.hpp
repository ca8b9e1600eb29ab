#pragma once

#include <cstdint>

#include "algorithms/layout.hpp"
#include "algorithms/schedule.hpp"

namespace athanor {

/// What the schedules on closed rings share: one lane per channel with one in-port from the previous rank of the
/// channel's ring and one out-port to the next.
class RingLanes : public Schedule {
 public:
  RingLanes(const Collective& collective, const Layout& layout)
      : collective_(collective), order_(collective.ranks, layout) {}

  Roster roster() const final { return {collective_.ranks, collective_.ranks}; }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final {
    return {AgentId{order_.next(lane.value, agent.value)}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final {
    return {AgentId{order_.previous(lane.value, agent.value)}, lane, in};
  }

 protected:
  const Collective& collective() const { return collective_; }
  std::uint32_t ranks() const { return collective_.ranks; }
  std::uint32_t position(AgentId agent, LaneId lane) const { return order_.position(lane.value, agent.value); }
  std::uint32_t rank_at(LaneId lane, std::uint32_t position) const { return order_.rank(lane.value, position); }
  /// The position `back` places before this one; requires back <= 2 * ranks.
  std::uint32_t before(std::uint32_t position, std::uint32_t back) const {
    return (position + 2 * ranks() - back) % ranks();
  }

 private:
  Collective collective_;
  RingOrder order_;
};

}  // namespace athanor
