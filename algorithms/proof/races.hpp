#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/proof/memory_map.hpp"
#include "algorithms/proof/replay.hpp"
#include "algorithms/proof/violation.hpp"

namespace athanor {

/// Finds the cells that several lanes of their agent touch and at least one writes: only these can be raced for. Most
/// schedules have few of them or none, which keeps the search for races short.
class SharedCells : public Observer {
 public:
  SharedCells(const Schedule& schedule, const Wiring& wiring);
  void on_primitive(const Execution& execution) override;

  const MemoryMap& map(AgentId agent) const { return maps_[agent.value]; }
  /// Numbers the agent's shared cells from 1; 0: not shared. Empty if none is.
  std::vector<std::uint32_t> shared(AgentId agent) const;
  /// Is some lane ever waiting for this one?
  const std::vector<bool>& awaited() const { return awaited_; }

 private:
  struct Cell {
    std::uint32_t lane = 0;  ///< the first to touch it, counted from 1
    bool several = false;
    bool written = false;
  };
  void touch(std::uint32_t agent, const Cells& cells, Elements count, std::uint32_t lane, bool write);

  const Wiring& wiring_;
  std::vector<MemoryMap> maps_;
  std::vector<std::vector<Cell>> cells_;  ///< by agent and address; empty for agents of one lane
  std::vector<bool> awaited_;
};

/// Two accesses of different lanes of one agent to one cell, one of them a write, that nothing orders. Ordered are:
/// the primitives of a lane; a wait after what it waits for; a receive after its send; and with S slots the send k + S
/// after the receive k. What is free of races with S slots is free of them with fewer.
/// Requires that the schedule ends with `slots`, and that `shared` has watched a complete replay.
std::optional<Violation> find_race(const Schedule& schedule, const Wiring& wiring, const SharedCells& shared,
                                   std::uint32_t slots);

}  // namespace athanor
