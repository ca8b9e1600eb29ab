#pragma once

#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// R ranks of one node and the engine in its NVSwitches, agent R, for reduce-scatter or all-gather.
///
/// Reduce-scatter: a rank loads its block, and the switches add up what they read from all ranks: every rank has R
/// lanes that supply, lane j the block of the rank j places after, and one that stores the sum of its own; the engine
/// has a lane for each rank's block, whose port j belongs to the rank j places after.
///
/// All-gather: a rank stores its block, and the switches write it to all, to the rank itself, too: every rank has one
/// lane that sends and R that store, lane j the block of the rank j places after; the engine has a lane that
/// multicasts for each rank, whose port j belongs to the rank j places after.
class NvlsBlocks final : public CutSchedule<BlockCut> {
 public:
  NvlsBlocks(const Collective& collective, const Layout& layout)
      : CutSchedule(collective, BlockCut(collective.count, collective.ranks, slices_as_chunks(layout))) {}

  AgentCount agent_count() const override { return {ranks(), ranks() + 1}; }
  std::uint32_t lanes(AgentId agent) const override { return cut().channels() * lanes_per_channel(agent); }
  Lane lane(AgentId agent, LaneId lane) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;

 private:
  enum class Duty : std::uint8_t { one, each, engine };  ///< of a rank: the lane of its own block; one of the R others
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::one;
    std::uint32_t owner = 0;  ///< of the block
  };

  Task task_of(AgentId agent, LaneId lane) const;
  LaneId lane_of(std::uint32_t rank, std::uint32_t owner, std::uint32_t channel) const {
    return LaneId{channel * (ranks() + 1) + distance(rank, owner)};
  }
  LaneId own_lane(std::uint32_t channel) const { return LaneId{channel * (ranks() + 1) + ranks()}; }
  LaneId engine_lane(std::uint32_t owner, std::uint32_t channel) const { return LaneId{channel * ranks() + owner}; }
  /// Does the task receive from the engine, or does the engine receive from many? Else they send.
  bool gathers() const { return collective().kind == CollectiveKind::all_gather; }
  bool receives(Duty duty) const { return gathers() ? duty != Duty::one : duty != Duty::each; }
  bool sends(Duty duty) const { return gathers() ? duty != Duty::each : duty != Duty::one; }
  Endpoint other_end(AgentId agent, LaneId lane, PortId port, bool many_ports) const;
  AgentId engine() const { return AgentId{ranks()}; }
  std::uint32_t lanes_per_channel(AgentId agent) const { return ranks() + (agent == engine() ? 0 : 1); }
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const { return before(to, from); }
};

/// What the two algorithms share; the words are for the caller to add.
Algorithm nvls_blocks_algorithm(CollectiveKind kind);

}  // namespace athanor
