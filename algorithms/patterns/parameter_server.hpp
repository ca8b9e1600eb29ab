#pragma once

#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// One server and its workers. Per channel the server has one lane whose port j belongs to worker j; it adds all inputs
/// of a chunk and answers everyone. A worker has one lane that pushes and one that pulls, so that a chunk is pushed
/// while the answer to an earlier one is still awaited.
class ParameterServer final : public VectorSchedule {
 public:
  enum class Host : std::uint8_t {
    rank,  ///< rank 0 serves, and adds its own input
    own,   ///< the server is an agent beyond the ranks, and has no input
  };

  ParameterServer(const Collective& collective, const Layout& layout, Host host)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)), host_(host) {}

  AgentCount agent_count() const override { return {ranks(), workers() + 1}; }
  std::uint32_t lanes(AgentId agent) const override { return cut().channels() * (serves(agent) ? 1 : 2); }
  Lane lane(AgentId agent, LaneId lane) const override;
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    if (serves(agent)) { return {worker(out.value), LaneId{2 * lane.value + 1}, PortId{0}}; }
    return {server(), LaneId{lane.value / 2}, port(agent)};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    if (serves(agent)) { return {worker(in.value), LaneId{2 * lane.value}, PortId{0}}; }
    return {server(), LaneId{lane.value / 2}, port(agent)};
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;

 private:
  bool is_worker() const { return host_ == Host::rank; }
  AgentId server() const { return AgentId{is_worker() ? 0 : ranks()}; }
  std::uint32_t workers() const { return ranks() - (is_worker() ? 1 : 0); }
  AgentId worker(std::uint32_t port) const { return AgentId{port + (is_worker() ? 1 : 0)}; }
  PortId port(AgentId worker) const { return PortId{worker.value - (is_worker() ? 1 : 0)}; }
  bool serves(AgentId agent) const { return agent == server(); }
  static bool pushes(LaneId lane) { return lane.value % 2 == 0; }
  std::uint32_t channel_of(AgentId agent, LaneId lane) const { return serves(agent) ? lane.value : lane.value / 2; }

  Host host_;
};

}  // namespace athanor
