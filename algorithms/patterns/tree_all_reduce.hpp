#pragma once

#include <vector>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/chain_trees.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// All-reduce up and down one tree per channel. Chunks follow each other: a rank has one lane that adds its children's
/// sums to its input and sends up, and one that stores what comes from above and sends it down to its children. The
/// root has one lane that does both. In-port and out-port i belong to child i; the parent's port is 0.
class TreeAllReduce final : public VectorSchedule {
 public:
  TreeAllReduce(const Collective& collective, const Layout& layout);

  std::uint32_t lanes(AgentId agent) const override { return first_lane(agent.value, cut().channels()); }
  Lane lane(AgentId agent, LaneId lane) const override;
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return task_of(agent.value, lane).channel; }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;

  static Elements granule(const Collective& collective, const Layout& layout);
  /// Of a layout with one loop.
  Cost cost() const;

 private:
  enum class Duty : std::uint8_t { up, down, turn };
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::up;
  };

  bool is_root(std::uint32_t rank, std::uint32_t channel) const { return roots_[channel] == rank; }
  /// Lanes of a rank before the channel.
  std::uint32_t first_lane(std::uint32_t rank, std::uint32_t channel) const;
  /// The lane of that channel which goes up or down; the root's is the one that it has.
  LaneId lane_of(std::uint32_t rank, std::uint32_t channel, Duty duty) const;
  Task task_of(std::uint32_t rank, LaneId lane) const;
  Endpoint at_parent(const Task& task, std::uint32_t rank) const;
  Endpoint at_child(const Task& task, std::uint32_t rank, PortId port, Duty duty) const;

  ChainTrees trees_;
  std::vector<std::uint32_t> roots_;  ///< by channel
};

}  // namespace athanor
