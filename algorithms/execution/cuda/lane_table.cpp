#include "algorithms/execution/cuda/lane_table.hpp"

#include <algorithm>

#include "algorithms/schedule/schedule.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

LaneTables::CellRange range_of(const std::optional<Cells>& cells) {
  if (!cells) { return {}; }
  return {cells->first.count(), cells->run.count(), cells->stride.count(), static_cast<std::uint32_t>(cells->buffer)};
}

/// Numbers lanes and connections, then fills the tables lane by lane.
class Tabulation {
 public:
  explicit Tabulation(const Schedule& schedule) : schedule_(schedule) {
    const AgentCount agent_count = schedule.agent_count();
    tables_.ranks = agent_count.ranks;
    tables_.agents = agent_count.agents;
    tables_.message_limit = schedule.message_limit().count();
    for (const Buffer buffer : {Buffer::input, Buffer::output, Buffer::scratch}) {
      tables_.shift[static_cast<std::size_t>(buffer)] = schedule.shift(buffer).count();
    }
    for (AgentId agent{0}; agent.value < agent_count.agents; ++agent.value) { number(agent); }
    for (std::uint32_t lane = 0; lane < tables_.lanes.size(); ++lane) { join(lane); }
    for (std::uint32_t lane = 0; lane < tables_.lanes.size(); ++lane) { fill(lane); }
  }

  LaneTables take() { return std::move(tables_); }

 private:
  void number(AgentId agent) {
    first_lane_.push_back(static_cast<std::uint32_t>(tables_.lanes.size()));
    for (LaneId id{0}; id.value < schedule_.lanes(agent); ++id.value) {
      const athanor::Lane lane = schedule_.lane(agent, id);
      tables_.lanes.push_back({lane.loops, agent.value, lane.steps, 0, 0});
      ids_.push_back(id);
      first_in_.push_back(ins_);
      first_out_.push_back(outs_);
      ins_ += lane.in_ports;
      outs_ += lane.out_ports;
    }
  }

  void join(std::uint32_t lane) {
    const AgentId agent{tables_.lanes[lane].agent};
    tables_.in_connections.resize(ins_);
    const std::uint32_t ports = schedule_.lane(agent, ids_[lane]).out_ports;
    for (PortId port{0}; port.value < ports; ++port.value) {
      const Endpoint to = schedule_.target(agent, ids_[lane], port);
      const std::uint32_t target = first_lane_[to.agent.value] + to.lane.value;
      tables_.in_connections[first_in_[target] + to.port.value] =
          static_cast<std::uint32_t>(tables_.connections.size());
      tables_.connections.push_back({lane, target});
    }
  }

  void fill(std::uint32_t index) {
    LaneTables::Lane& lane = tables_.lanes[index];
    if (lane.loops == 0) { return; }
    lane.body = static_cast<std::uint32_t>(tables_.entries.size());
    for (std::uint32_t step = 0; lane.loops > 1 && step < lane.steps; ++step) {
      LaneTables::Entry entry = entry_of(index, 0, step);
      entry.wait_ended = entry_of(index, lane.loops - 2, step).wait_ended;  // of loop 0 it may be cut off at 0
      tables_.entries.push_back(entry);
    }
    lane.tail = static_cast<std::uint32_t>(tables_.entries.size());
    for (std::uint32_t step = 0; step < lane.steps; ++step) {
      tables_.entries.push_back(entry_of(index, lane.loops - 1, step));
    }
  }

  LaneTables::Entry entry_of(std::uint32_t lane, std::uint64_t loop, std::uint32_t step) const {
    const AgentId agent{tables_.lanes[lane].agent};
    const Primitive primitive = schedule_.at(agent, ids_[lane], loop, step);
    LaneTables::Entry entry;
    entry.count = primitive.count.count();
    entry.operands = {range_of(primitive.operands[0]), range_of(primitive.operands[1])};
    entry.store = range_of(primitive.store);
    if (primitive.wait) {
      entry.wait_lane = first_lane_[agent.value] + primitive.wait->lane.value;
      entry.wait_ended = static_cast<std::int64_t>(primitive.wait->ended);
    }
    entry.first_receive = first_in_[lane] + primitive.receives.first;
    entry.receives = primitive.receives.count;
    entry.first_send = first_out_[lane] + primitive.sends.first;
    entry.sends = primitive.sends.count;
    entry.finish = primitive.finish ? 1 : 0;
    return entry;
  }

  const Schedule& schedule_;
  LaneTables tables_;
  std::vector<std::uint32_t> first_lane_;  // by agent
  std::vector<LaneId> ids_;                // by lane of the tables
  std::vector<std::uint32_t> first_in_;
  std::vector<std::uint32_t> first_out_;
  std::uint32_t ins_ = 0;
  std::uint32_t outs_ = 0;
};

}  // namespace

LaneTables tabulate_lanes(const Schedule& schedule) { return Tabulation(schedule).take(); }

std::optional<std::uint32_t> unmatched_connection(const LaneTables& tables) {
  // Of the lengths in their order, by connection: of what its sender sends, and of what its receiver receives.
  std::vector<std::uint64_t> sent(tables.connections.size());
  std::vector<std::uint64_t> received(tables.connections.size());
  const auto append = [](std::uint64_t& digest, std::int64_t count) {
    digest = join_hash(digest, static_cast<std::uint64_t>(count));
  };
  for (const LaneTables::Lane& lane : tables.lanes) {
    for (std::uint64_t loop = 0; loop < lane.loops; ++loop) {
      const std::uint32_t first = loop + 1 == lane.loops ? lane.tail : lane.body;
      for (std::uint32_t step = 0; step < lane.steps; ++step) {
        const LaneTables::Entry& entry = tables.entries[first + step];
        for (std::uint32_t k = 0; k < entry.sends; ++k) { append(sent[entry.first_send + k], entry.count); }
        for (std::uint32_t k = 0; k < entry.receives; ++k) {
          append(received[tables.in_connections[entry.first_receive + k]], entry.count);
        }
      }
    }
  }
  const auto [first, other] = std::mismatch(sent.begin(), sent.end(), received.begin());
  if (first == sent.end()) { return std::nullopt; }
  return static_cast<std::uint32_t>(first - sent.begin());
}

}  // namespace athanor
