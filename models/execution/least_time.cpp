#include "models/execution/least_time.hpp"

#include <algorithm>
#include <vector>

#include "models/execution/primitive_costs.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kMost = 1U << 16U;  // primitives that are looked at

/// What a lane sends over one connection.
struct Sent {
  Bytes bytes;
  std::int64_t messages = 0;
};

LaneIndex longest_lane(const MappedSchedule& mapped) {
  LaneIndex longest{0};
  for (const LaneIndex lane : mapped.lanes.ids()) {
    const MappedSchedule::Lane& own = mapped.lanes[lane];
    const MappedSchedule::Lane& other = mapped.lanes[longest];
    const auto primitives = [](const MappedSchedule::Lane& each) {
      return static_cast<double>(each.loops) * each.steps;
    };
    if (primitives(own) > primitives(other)) { longest = lane; }
  }
  return longest;
}

std::vector<Sent> sent_by(const MappedSchedule& mapped, const Schedule& schedule, const MappedSchedule::Lane& lane,
                          Bytes element_size) {
  std::vector<Sent> sent(lane.out_ports);
  std::uint64_t seen = 0;
  for (std::uint64_t loop = 0; loop < lane.loops && seen < kMost; ++loop) {
    for (std::uint32_t step = 0; step < lane.steps && seen < kMost; ++step, ++seen) {
      const PrimitiveUse use = use_of(schedule.at(lane.agent, lane.lane, loop, step), lane, element_size);
      for (std::uint32_t port = use.sends.first; port < use.sends.first + use.sends.count; ++port) {
        const ConnectionId connection{lane.first_out.value + port};
        sent[port].bytes += wire_bytes(use.bytes, mapped.connection_costs[mapped.connections[connection].cost]);
        ++sent[port].messages;
      }
    }
  }
  return sent;
}

}  // namespace

Time least_time(const MappedSchedule& mapped, const Schedule& schedule, Bytes element_size) {
  if (mapped.lanes.empty() || mapped.network.queue_pairs != 1) { return Time::zero(); }
  const MappedSchedule::Lane& lane = mapped.lanes[longest_lane(mapped)];
  const AgentCost& cost = mapped.agent_costs[lane.cost];
  const std::vector<Sent> sent = sent_by(mapped, schedule, lane, cost.element_size.value_or(element_size));
  Time least;
  for (std::uint32_t port = 0; port < sent.size(); ++port) {
    const auto& pair = mapped.network.pairs_of(ConnectionId{lane.first_out.value + port}).front();
    const Time whole = injection_time(sent[port].bytes, rate_alone(mapped.network.graph, pair));
    least = std::max(least, whole - Time{sent[port].messages});  // of each message the time is rounded
  }
  return least;
}

}  // namespace athanor
