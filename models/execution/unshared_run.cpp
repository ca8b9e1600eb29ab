#include "models/execution/unshared_run.hpp"

#include <algorithm>
#include <vector>

#include "models/execution/lock_step_run.hpp"
#include "models/execution/primitive_costs.hpp"
#include "models/execution/simulate.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kMostLoops = 2;                  // with more, the state of the whole may repeat, ...
constexpr std::uint64_t kFewPrimitives = 1U << 19U;      // ... which is found later than so many are settled
constexpr std::uint64_t kMostTimes = 1U << 26U;          // that connections remember, all together
constexpr std::uint64_t kPrimitivesPerLook = 1U << 20U;  // at whether to stop

class UnsharedRun {
 public:
  UnsharedRun(const MappedSchedule& mapped, const Schedule& schedule, Bytes element_size, std::uint32_t slots)
      : mapped_(mapped), schedule_(schedule), lanes_(mapped.lanes.size()) {
    outcome_.ends.resize(mapped.lanes.size());
    for (const LaneIndex lane : lanes_.ids()) {
      const AgentCost& cost = mapped.agent_costs[mapped.lanes[lane].cost];
      lanes_[lane].element_size = cost.element_size.value_or(element_size);
      lanes_[lane].slots = cost.slots.value_or(slots);
      lanes_[lane].free = mapped.starts[mapped.lanes[lane].start].begin;
    }
    for (const ConnectionId connection : mapped.connections.ids()) { add_connection(connection); }
  }

  bool fits() const { return remembered_ <= kMostTimes; }

  /// Nothing: a primitive waits for another lane, or nothing can run on.
  std::optional<UnsharedOutcome> run(const std::stop_token& stop) {
    arrivals_.resize(remembered_);
    uses_ended_.resize(remembered_);
    for (LaneIndex lane = mapped_.lanes.next(); lane.value-- > 0;) { call(lane); }
    while (!called_.empty()) {
      const LaneIndex lane = called_.back();
      called_.pop_back();
      lanes_[lane].called = false;
      while (may_begin(lane)) {
        settle(lane);
        if (outcome_.primitives % kPrimitivesPerLook == 0 && stop.stop_requested()) { throw Interrupted(); }
      }
      if (waits_) { return {}; }
    }
    const auto ended = [](const LaneState& lane) { return lane.ended; };
    if (!std::all_of(lanes_.begin(), lanes_.end(), ended)) { return {}; }
    count_carried();
    return std::move(outcome_);
  }

 private:
  struct LaneState {
    std::uint64_t loop = 0;
    std::uint32_t step = 0;
    std::uint32_t slots = 0;
    Time free;  ///< when its last primitive ended
    Bytes element_size;
    PrimitiveUse use;  ///< of its present primitive, where it is loaded
    bool loaded = false;
    bool called = false;
    bool ended = false;
  };
  struct ConnectionState {
    Time free;  ///< when its last message was injected
    Time latency;
    Bytes timed_size;     ///< the last size whose duration was computed, ...
    Time timed_duration;  ///< ... and the result
    Bytes carried;
    FineRate rate = 0;  ///< 0: it crosses no links
    std::uint32_t slots = 0;
    std::uint32_t held = 0;      ///< slots that are taken
    std::uint32_t first = 0;     ///< slot, of `arrivals_` and `uses_ended_`
    std::uint32_t next_in = 0;   ///< slot of the next message to be sent
    std::uint32_t next_out = 0;  ///< slot of the next message to be used
    LaneIndex source;
    LaneIndex target;
  };

  void add_connection(ConnectionId number) {
    const MappedSchedule::Connection& connection = mapped_.connections[number];
    const FlowGraph::Connection& pair = mapped_.network.pairs_of(number).front();
    const MappedSchedule::Lane& source = mapped_.lanes[connection.source_lane];
    ConnectionState state;
    state.latency = pair.latency;
    state.rate = rate_alone(mapped_.network, pair);
    state.slots = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(lanes_[connection.source_lane].slots, source.loops * source.steps));
    state.first = static_cast<std::uint32_t>(std::min<std::uint64_t>(remembered_, kMostTimes));
    state.next_in = state.next_out = state.first;
    state.source = connection.source_lane;
    state.target = connection.target_lane;
    state.timed_size = Bytes{-1};
    remembered_ += state.slots;
    connections_.push_back(state);
  }

  void call(LaneIndex lane) {
    if (lanes_[lane].called) { return; }
    lanes_[lane].called = true;
    called_.push_back(lane);
  }

  void load(LaneState& state, const MappedSchedule::Lane& mapped) {
    const Primitive primitive = schedule_.at(mapped.agent, mapped.lane, state.loop, state.step);
    state.use = use_of(primitive, mapped, state.element_size);
    waits_ = waits_ || state.use.waits;
    state.loaded = true;
  }

  static std::uint32_t after(const ConnectionState& connection, std::uint32_t slot) {
    return slot + 1 == connection.first + connection.slots ? connection.first : slot + 1;
  }

  ConnectionId received(const LaneState& state, const MappedSchedule::Lane& lane, std::uint32_t port) const {
    return mapped_.in_connections[lane.first_in + state.use.receives.first + port];
  }
  static ConnectionId sent(const LaneState& state, const MappedSchedule::Lane& lane, std::uint32_t port) {
    return ConnectionId{lane.first_out.value + state.use.sends.first + port};
  }

  /// Whether it is known when the lane's next primitive begins: its messages and slots are.
  bool may_begin(LaneIndex number) {
    LaneState& state = lanes_[number];
    const MappedSchedule::Lane& lane = mapped_.lanes[number];
    if (state.ended || waits_) { return false; }
    if (state.loop == lane.loops || lane.steps == 0) {
      state.ended = true;
      outcome_.ends[number] = state.free;
      outcome_.finish = std::max(outcome_.finish, state.free);
      return false;
    }
    if (!state.loaded) { load(state, lane); }
    for (std::uint32_t port = 0; port < state.use.receives.count; ++port) {
      const ConnectionState& connection = connections_[received(state, lane, port)];
      if (connection.held == 0) { return false; }
    }
    for (std::uint32_t port = 0; port < state.use.sends.count; ++port) {
      const ConnectionState& connection = connections_[sent(state, lane, port)];
      if (connection.held == connection.slots) { return false; }
    }
    return !waits_;
  }

  Time begin_of(const LaneState& state, const MappedSchedule::Lane& lane) const {
    Time begin = state.free;
    for (std::uint32_t port = 0; port < state.use.receives.count; ++port) {
      begin = std::max(begin, arrivals_[connections_[received(state, lane, port)].next_out]);
    }
    for (std::uint32_t port = 0; port < state.use.sends.count; ++port) {
      begin = std::max(begin, uses_ended_[connections_[sent(state, lane, port)].next_in]);
    }
    return begin;
  }

  /// As NetworkSubstrate, event after event.
  void settle(LaneIndex number) {
    LaneState& state = lanes_[number];
    const MappedSchedule::Lane& lane = mapped_.lanes[number];
    const AgentCost& cost = mapped_.agent_costs[lane.cost];
    ++outcome_.primitives;
    const bool has_port = state.use.receives.count + state.use.sends.count > 0;
    const Time begin = begin_of(state, lane) + (has_port ? cost.overhead : Time::zero());
    const Time worked = begin + local_work(state.use, cost);
    Time end = worked;
    const Time sends = cost.overlapped && state.use.sends.count > 0 ? begin : worked;
    for (std::uint32_t port = 0; port < state.use.sends.count; ++port) {
      end = std::max(end, send(sent(state, lane, port), sends, state.use.bytes));
    }
    for (std::uint32_t port = 0; port < state.use.receives.count; ++port) {
      ConnectionState& connection = connections_[received(state, lane, port)];
      uses_ended_[connection.next_out] = end;
      connection.next_out = after(connection, connection.next_out);
      --connection.held;
      call(connection.source);
    }
    state.free = end;
    state.loaded = false;
    if (++state.step == lane.steps) {
      state.step = 0;
      ++state.loop;
    }
  }

  /// Returns when its sender has done with it.
  Time send(ConnectionId number, Time now, Bytes payload) {
    ConnectionState& connection = connections_[number];
    const ConnectionCost& cost = mapped_.connection_costs[mapped_.connections[number].cost];
    const Bytes size = wire_bytes(payload, cost);
    if (connection.timed_size != size) {
      connection.timed_size = size;
      connection.timed_duration = injection_alone(size, connection.rate, mapped_.network.pairs_of(number).front().cap);
    }
    connection.free = std::max(connection.free, now) + connection.timed_duration;
    const Time delivered = connection.free + connection.latency;
    arrivals_[connection.next_in] = delivered;
    connection.next_in = after(connection, connection.next_in);
    ++connection.held;
    connection.carried += size;
    call(connection.target);
    switch (cost.end) {
      case SendEnd::copied: return now;
      case SendEnd::paced: return now + injection_time(payload, cost.injection_rate);
      case SendEnd::injected: return connection.free;
      case SendEnd::delivered: return delivered;
    }
    return now;
  }

  void count_carried() {
    IdVector<ConnectionId, Bytes> carried;
    for (const ConnectionState& connection : connections_) { carried.push_back(connection.carried); }
    outcome_.carried = carried_by_links(mapped_.network.graph, carried);
  }

  const MappedSchedule& mapped_;
  const Schedule& schedule_;
  IdVector<LaneIndex, LaneState> lanes_;
  IdVector<ConnectionId, ConnectionState> connections_;
  std::vector<Time> arrivals_;    ///< by slot of each connection: of the message in it
  std::vector<Time> uses_ended_;  ///< likewise: of the last message in it
  std::uint64_t remembered_ = 0;
  std::vector<LaneIndex> called_;  ///< lanes that may be able to begin, each once
  bool waits_ = false;
  UnsharedOutcome outcome_;
};

bool shares_nothing(const FlowGraph& graph) {
  std::vector<bool> crossed(graph.links.size());
  for (const FlowGraph::Connection& connection : graph.connections) {
    for (std::uint32_t u = connection.first_use; u < connection.first_use + connection.uses; ++u) {
      const LinkIndex link = graph.uses[u].link;
      if (graph.links[link].slack) { continue; }
      if (crossed[link.value]) { return false; }
      crossed[link.value] = true;
    }
  }
  return true;
}

/// Rates that MaxMinShares takes, and gives.
bool has_usual_rates(const FlowGraph& graph) {
  constexpr std::int64_t kFastest = 4'000'000'000'000'000;
  return std::all_of(graph.links.begin(), graph.links.end(),
                     [](const FlowGraph::Link& link) { return link.rate.count() <= kFastest; }) &&
         std::all_of(graph.uses.begin(), graph.uses.end(), [&](const FlowGraph::Use& use) {
           return graph.links[use.link].rate.count() * kFinePerByte > use.flows;
         });
}

bool is_simple(const MappedSchedule& mapped) {
  const auto simple_cost = [](const ConnectionCost& cost) {
    return cost.grain == Bytes::zero() && cost.handshake == Time::zero();
  };
  const auto waits = [](const MappedSchedule::Start& start) { return !start.after.empty(); };
  return mapped.network.queue_pairs == 1 && !mapped.in_calls &&
         std::none_of(mapped.starts.begin(), mapped.starts.end(), waits) &&
         std::all_of(mapped.connection_costs.begin(), mapped.connection_costs.end(), simple_cost);
}

bool is_short(const MappedSchedule& mapped) {
  std::uint64_t loops = 0;
  std::uint64_t primitives = 0;
  for (const MappedSchedule::Lane& lane : mapped.lanes) {
    loops = std::max(loops, lane.loops);
    primitives += std::min(lane.loops, kFewPrimitives) * lane.steps;
  }
  return loops <= kMostLoops || primitives <= kFewPrimitives;
}

}  // namespace

std::optional<UnsharedOutcome> run_unshared(const MappedSchedule& mapped, const Schedule& schedule, Bytes element_size,
                                            std::uint32_t slots, const SimulationOptions& options) {
  const bool plain = options.level == NetworkLevel::flow && !options.flow_rate;
  if (!plain || !is_simple(mapped) || !is_short(mapped)) { return {}; }
  if (!has_usual_rates(mapped.network.graph) || !shares_nothing(mapped.network.graph)) { return {}; }
  if (auto outcome = run_in_lock_step(mapped, schedule, element_size, slots, options.stop)) { return outcome; }
  UnsharedRun run(mapped, schedule, element_size, slots);
  return run.fits() ? run.run(options.stop) : std::nullopt;
}

}  // namespace athanor
