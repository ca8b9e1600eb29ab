#pragma once

#include <cstdint>

#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/schedule.hpp"

namespace athanor {

/// The root and all others, each joined to it: per channel the root has P lanes, of which lane d serves the rank d
/// places after it and lane 0 its own block, while every other rank has one lane. A lane has one port or none.
class Star : public Schedule {
 public:
  Star(const Collective& collective, const Layout& layout)
      : collective_(collective), ranges_(collective.count, collective.ranks, layout, 1) {}

  Roster roster() const final { return {ranks(), ranks()}; }
  std::uint32_t lanes(AgentId agent) const final { return ranges_.channels() * (is_root(agent) ? ranks() : 1); }
  Endpoint target(AgentId agent, LaneId lane, PortId) const final { return opposite(agent, lane); }
  Endpoint source(AgentId agent, LaneId lane, PortId) const final { return opposite(agent, lane); }
  Elements message_limit() const final { return ranges_.widest(); }
  Elements shift(Buffer) const final { return ranges_.shift(); }
  std::uint32_t least_slots() const final { return 1; }

 protected:
  const Collective& collective() const { return collective_; }
  const BlockRanges& ranges() const { return ranges_; }
  std::uint32_t ranks() const { return collective_.ranks; }
  bool is_root(AgentId agent) const { return agent.value == collective_.root; }
  std::uint32_t channel(AgentId agent, LaneId lane) const { return is_root(agent) ? lane.value / ranks() : lane.value; }
  /// Whose block this lane moves.
  std::uint32_t owner(AgentId agent, LaneId lane) const {
    return is_root(agent) ? after(lane.value % ranks()) : agent.value;
  }
  /// `sends`: by the others.
  Lane shape(AgentId agent, LaneId lane, bool sends) const {
    const std::uint32_t channel = this->channel(agent, lane);
    const bool local = owner(agent, lane) == collective_.root;
    const std::uint32_t role = local ? 0 : is_root(agent) ? 1 : 2;
    const std::uint32_t out = !local && sends != is_root(agent) ? 1 : 0;
    return {1, ranges_.loops(channel), local ? 0 : 1 - out, out, ProgramId{3 * ranges_.shape(channel) + role}};
  }

 private:
  std::uint32_t after(std::uint32_t places) const {
    return static_cast<std::uint32_t>((std::uint64_t{collective_.root} + places) % ranks());
  }
  Endpoint opposite(AgentId agent, LaneId lane) const {
    if (is_root(agent)) { return {AgentId{owner(agent, lane)}, LaneId{channel(agent, lane)}, PortId{0}}; }
    const std::uint32_t places = (agent.value + ranks() - collective_.root) % ranks();
    return {AgentId{collective_.root}, LaneId{lane.value * ranks() + places}, PortId{0}};
  }

  Collective collective_;
  BlockRanges ranges_;
};

}  // namespace athanor
