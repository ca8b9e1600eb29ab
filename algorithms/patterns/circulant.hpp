#pragma once

#include <cstdint>

#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// What the schedules share in which every rank does the same: out-port p of a lane leads to the lane of the same
/// number, in-port p, at the rank distance(p) places after. `Base` is a RankSchedule.
template <class Base>
class Circulant : public Base {
 public:
  using Base::Base;

  Endpoint target(AgentId agent, LaneId lane, PortId out) const final {
    return {AgentId{this->after(agent.value, distance(out))}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final {
    return {AgentId{this->before(agent.value, distance(in))}, lane, in};
  }

 protected:
  /// Below the number of ranks.
  virtual std::uint32_t distance(PortId port) const = 0;
};

}  // namespace athanor
