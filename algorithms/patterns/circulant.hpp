#pragma once

#include <cstdint>

#include "algorithms/collective.hpp"
#include "algorithms/schedule.hpp"

namespace athanor {

/// What the schedules share in which every rank does the same: out-port p of a lane leads to the lane of the same
/// number, in-port p, at the rank distance(p) places after.
class Circulant : public Schedule {
 public:
  explicit Circulant(const Collective& collective) : collective_(collective) {}

  Roster roster() const final { return {ranks(), ranks()}; }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final {
    return {AgentId{after(agent.value, distance(out))}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final {
    return {AgentId{after(agent.value, ranks() - distance(in))}, lane, in};
  }

 protected:
  /// Below the number of ranks.
  virtual std::uint32_t distance(PortId port) const = 0;

  const Collective& collective() const { return collective_; }
  std::uint32_t ranks() const { return collective_.ranks; }
  /// The rank `places` after; requires places <= ranks.
  std::uint32_t after(std::uint32_t rank, std::uint32_t places) const {
    return static_cast<std::uint32_t>((std::uint64_t{rank} + places) % ranks());
  }

 private:
  Collective collective_;
};

}  // namespace athanor
