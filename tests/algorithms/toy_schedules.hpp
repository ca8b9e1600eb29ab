#pragma once

#include <array>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor::toys {

struct ToyLane {
  Lane shape;
  std::vector<Primitive> primitives;  ///< loop after loop
  std::vector<Endpoint> targets;
  std::vector<Endpoint> sources;
};

/// A schedule that is nothing but tables, so that a test can damage any entry of it.
class Table : public Schedule {
 public:
  AgentCount agent_counts;
  std::vector<std::vector<ToyLane>> agents;
  std::vector<Memory> memories;
  Elements limit;
  std::array<Elements, 3> shifts;
  std::uint32_t slots = 1;

  AgentCount agent_count() const override { return agent_counts; }
  std::uint32_t lanes(AgentId agent) const override { return static_cast<std::uint32_t>(agents[agent.value].size()); }
  Lane lane(AgentId agent, LaneId lane) const override { return at(agent, lane).shape; }
  Memory memory(AgentId agent) const override { return memories[agent.value]; }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override { return at(agent, lane).targets[out.value]; }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override { return at(agent, lane).sources[in.value]; }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;
  Elements message_limit() const override { return limit; }
  Elements shift(Buffer buffer) const override { return shifts[static_cast<std::size_t>(buffer)]; }
  std::uint32_t least_slots() const override { return slots; }

  ToyLane& lane(std::uint32_t agent, std::uint32_t lane) { return agents[agent][lane]; }
  Primitive& primitive(std::uint32_t agent, std::uint32_t lane, std::uint64_t index) {
    return agents[agent][lane].primitives[index];
  }
  /// Adds a lane with a program of its own.
  ToyLane& add(std::uint32_t agent, std::vector<Primitive> primitives);
  /// A new out-port of `from` and in-port of `to`, joined.
  void join(std::uint32_t from_agent, std::uint32_t from_lane, std::uint32_t to_agent, std::uint32_t to_lane);
  /// visit(agent, lane, index, primitive) for all of them.
  template <class Visit>
  void each_primitive(Visit visit) const {
    for (std::uint32_t agent = 0; agent < agents.size(); ++agent) {
      for (std::uint32_t lane = 0; lane < agents[agent].size(); ++lane) {
        const std::vector<Primitive>& primitives = agents[agent][lane].primitives;
        for (std::uint64_t index = 0; index < primitives.size(); ++index) {
          visit(agent, lane, index, primitives[index]);
        }
      }
    }
  }
  /// Gives each lane a program of its own.
  void separate_programs();

 private:
  const ToyLane& at(AgentId agent, LaneId lane) const { return agents[agent.value][lane.value]; }
};

/// `ranks` agents without lanes, whose buffers hold so many elements. One loop, message limit 1000, one slot.
Table empty(std::uint32_t ranks, Elements input, Elements output, Elements scratch);

/// Any schedule as tables.
Table tabulate(const Schedule& schedule);

Cells input(std::int64_t first);
Cells output(std::int64_t first);
Cells scratch(std::int64_t first);

/// Primitives of `count` elements on port 0.
Primitive send(std::int64_t count, Cells from);
Primitive receive(std::int64_t count, Cells into);
Primitive copy(std::int64_t count, Cells from, Cells into);

/// The fused ring: one lane per rank, `loops` loops of ranks * 2 elements; needs two slots from three ranks on.
struct Ring {
  Table table;
  Collective collective;
};
Ring ring_all_reduce(std::uint32_t ranks, std::uint64_t loops);

/// Rank 0 sends 4 elements to rank 1, whose lane 0 stores them and whose lane 1 waits for that and sends them to
/// rank 2.
struct Chain {
  Table table;
  Collective collective;
};
Chain chain_broadcast();

}  // namespace athanor::toys
