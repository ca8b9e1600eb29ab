#include "algorithms/proof/wiring.hpp"

#include <fmt/core.h>

namespace athanor {

StepPlace WiredLane::place(std::uint64_t index) const {
  return {agent, lane, index / shape.steps, static_cast<std::uint32_t>(index % shape.steps)};
}

namespace {

class Wirer {
 public:
  Wirer(const Schedule& schedule, Wiring& wiring)
      : schedule_(schedule), wiring_(wiring), agent_count_(schedule.agent_count()) {}

  std::optional<Violation> wire() {
    number_lanes();
    for (const WiredLane& lane : wiring_.lanes) {
      for (std::uint32_t port = 0; port < lane.shape.out_ports; ++port) {
        if (auto violation = join(lane, PortId{port})) { return violation; }
      }
    }
    for (const WiredLane& lane : wiring_.lanes) {
      for (std::uint32_t port = 0; port < lane.shape.in_ports; ++port) {
        if (auto violation = meet(lane, PortId{port})) { return violation; }
      }
    }
    return std::nullopt;
  }

 private:
  void number_lanes() {
    std::uint32_t ins = 0;
    std::uint32_t outs = 0;
    for (std::uint32_t agent = 0; agent < agent_count_.agents; ++agent) {
      wiring_.first_lane.push_back(static_cast<std::uint32_t>(wiring_.lanes.size()));
      const std::uint32_t lanes = schedule_.lanes(AgentId{agent});
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const Lane shape = schedule_.lane(AgentId{agent}, LaneId{lane});
        const auto index = static_cast<std::uint32_t>(wiring_.lanes.size());
        wiring_.lanes.push_back({AgentId{agent}, LaneId{lane}, shape, ins, outs});
        wiring_.receivers.insert(wiring_.receivers.end(), shape.in_ports, index);
        ins += shape.in_ports;
        outs += shape.out_ports;
      }
    }
    wiring_.first_lane.push_back(static_cast<std::uint32_t>(wiring_.lanes.size()));
    wiring_.senders.resize(ins);
    wiring_.outgoing.resize(outs);
  }

  bool exists(const Endpoint& end, std::uint32_t Lane::*ports) const {
    return end.agent.value < agent_count_.agents && end.lane.value < wiring_.lanes_of(end.agent) &&
           end.port.value < wiring_.lanes[wiring_.index(end.agent, end.lane)].shape.*ports;
  }

  std::string text(const Endpoint& end) const {
    return fmt::format("{}, lane {}, port {}", describe(agent_count_, end.agent), end.lane.value, end.port.value);
  }

  std::optional<Violation> join(const WiredLane& lane, PortId port) {
    const Endpoint here{lane.agent, lane.lane, port};
    const Endpoint there = schedule_.target(lane.agent, lane.lane, port);
    const StepPlace place{lane.agent, lane.lane, {}, {}};
    if (!exists(there, &Lane::in_ports)) {
      return Violation{ViolationKind::wiring, place,
                       fmt::format("out-port {} leads to {}, which does not exist", port.value, text(there))};
    }
    const Endpoint back = schedule_.source(there.agent, there.lane, there.port);
    if (!(back == here)) {
      return Violation{ViolationKind::wiring, place,
                       fmt::format("out-port {} leads to {}, whose source is {}", port.value, text(there), text(back))};
    }
    const std::uint32_t receiver = wiring_.index(there.agent, there.lane);
    const std::uint32_t connection = wiring_.lanes[receiver].first_in + there.port.value;
    wiring_.outgoing[lane.first_out + port.value] = connection;
    wiring_.senders[connection] = wiring_.index(lane.agent, lane.lane);
    return std::nullopt;
  }

  std::optional<Violation> meet(const WiredLane& lane, PortId port) const {
    const Endpoint there = schedule_.source(lane.agent, lane.lane, port);
    const StepPlace place{lane.agent, lane.lane, {}, {}};
    if (!exists(there, &Lane::out_ports)) {
      return Violation{ViolationKind::wiring, place,
                       fmt::format("in-port {} is fed by {}, which does not exist", port.value, text(there))};
    }
    const Endpoint back = schedule_.target(there.agent, there.lane, there.port);
    if (!(back == Endpoint{lane.agent, lane.lane, port})) {
      return Violation{ViolationKind::wiring, place,
                       fmt::format("in-port {} is fed by {}, whose target is {}", port.value, text(there), text(back))};
    }
    return std::nullopt;
  }

  const Schedule& schedule_;
  Wiring& wiring_;
  AgentCount agent_count_;
};

}  // namespace

std::optional<Violation> wire(const Schedule& schedule, Wiring& wiring) { return Wirer(schedule, wiring).wire(); }

}  // namespace athanor
