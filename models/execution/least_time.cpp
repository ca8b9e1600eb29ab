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

class LaneSends {
 public:
  LaneSends(const MappedSchedule& mapped, const Schedule& schedule, LaneIndex lane, Bytes element_size)
      : mapped_(mapped),
        schedule_(schedule),
        lane_(mapped.lanes[lane]),
        element_size_(mapped.agent_costs[lane_.cost].element_size.value_or(element_size)),
        sent_(lane_.out_ports) {}

  Time least_time(Time enough) {
    Time least;
    for (std::uint64_t loop = 0; loop < lane_.loops && seen_ < kMost && least <= enough; ++loop) {
      for (std::uint32_t step = 0; step < lane_.steps && seen_ < kMost; ++step, ++seen_) { send(loop, step); }
      for (std::uint32_t port = 0; port < sent_.size(); ++port) { least = std::max(least, time_of(port)); }
    }
    return least;
  }

 private:
  ConnectionId connection(std::uint32_t port) const { return ConnectionId{lane_.first_out.value + port}; }

  void send(std::uint64_t loop, std::uint32_t step) {
    const PrimitiveUse use = use_of(schedule_.at(lane_.agent, lane_.lane, loop, step), lane_, element_size_);
    for (std::uint32_t port = use.sends.first; port < use.sends.first + use.sends.count; ++port) {
      sent_[port].bytes += wire_bytes(use.bytes, mapped_.connection_costs[mapped_.connections[connection(port)].cost]);
      ++sent_[port].messages;
    }
  }

  Time time_of(std::uint32_t port) const {
    const FlowGraph::Connection& pair = mapped_.network.pairs_of(connection(port)).front();
    const Time whole = injection_time(sent_[port].bytes, rate_alone(mapped_.network.graph, pair));
    return whole - Time{sent_[port].messages};  // of each message the time is rounded
  }

  const MappedSchedule& mapped_;
  const Schedule& schedule_;
  const MappedSchedule::Lane& lane_;
  Bytes element_size_;
  std::vector<Sent> sent_;  ///< by port
  std::uint64_t seen_ = 0;
};

}  // namespace

Time least_time(const MappedSchedule& mapped, const Schedule& schedule, Bytes element_size, Time enough) {
  if (mapped.lanes.empty() || mapped.network.queue_pairs != 1) { return Time::zero(); }
  return LaneSends(mapped, schedule, longest_lane(mapped), element_size).least_time(enough);
}

}  // namespace athanor
