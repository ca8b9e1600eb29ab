#pragma once

#include <deque>
#include <vector>

#include "models/execution/execution_observer.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/substrate.hpp"
#include "models/network/fabric_network.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Devices that are joined by a network. A primitive takes its overhead, then its reducing (before its sends, or beside
/// them where costs say overlapped), then its sends until they have ended as their connection's SendEnd says.
///
/// Receivers of connections with a grain start on the first grain. What they pass on is withheld until what they
/// receive is complete: the network may deliver it before (early), but it is there one latency after it was released
/// at the soonest (late).
///
/// Messages beyond the eager limit of their connection ask the receiver first: they begin to move one handshake later,
/// and what follows on the connection stays behind them. Handshakes overlap with what moves meanwhile.
class NetworkSubstrate final : public Substrate, public Actor, public MoveListener {
 public:
  /// Borrows all of them but the options. Throws as FabricNetwork.
  NetworkSubstrate(Simulator& simulator, const MappedSchedule& mapped, const Fabric& fabric,
                   const NetworkOptions& options, std::uint64_t seed);

  /// Tells it what causes what; borrows it.
  void observe(ExecutionObserver& observer);

  /// What was done to the network until the last lane had ended.
  NetworkUse use(Time end) const { return beneath_.use(end); }

  // Repetition of loops, see repetition.hpp.
  /// Bytes that a link of the mapped schedule has carried.
  Bytes carried(LinkIndex link) const { return network_.carried(link); }
  /// Appends all that decides the future, in times relative to now.
  void snapshot(std::vector<std::int64_t>& state) const;
  /// As Network::fast_forward.
  void fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before);

  void serve(Executor& executor) override { executor_ = &executor; }
  void ready(LaneIndex lane) override;
  void begin(LaneIndex lane) override;
  void ending(LaneIndex lane) override;

  void on_event(std::uint64_t event) override;
  void injected(ConnectionId connection) override;
  void grain_arrived(ConnectionId connection) override;
  void delivered(ConnectionId connection) override;

 private:
  struct LaneState {
    Time send_time;  ///< when its events are due
    Time work_time;
    Time pace_time;
    Time release_time;
    std::uint32_t incomplete = 0;  ///< messages of which only a grain is there
    bool unreleased = false;       ///< what it sends is not complete yet, because what it receives is not
  };
  struct ConnectionState {
    Time not_before;             ///< the message number `late` is not complete earlier
    Time late_time;              ///< when it is, where that is after its delivery
    std::uint32_t complete = 0;  ///< messages that have arrived whole and are not used up
    std::uint32_t moved = 0;     ///< messages handed to the network, modulo 2^32
    std::uint32_t landed = 0;    ///< messages that the network has reported delivered
    std::uint32_t late = 0;
    bool withheld = false;  ///< the newest message waits for what its sender still receives
    bool early = false;     ///< it was delivered meanwhile
  };

  /// A message that asks its receiver, or is behind one that does.
  struct Asking {
    Bytes size;
    Time due;
  };

  const ConnectionCost& cost(ConnectionId connection) const {
    return mapped_.connection_costs[mapped_.connections[connection].cost];
  }
  Time local_work(LaneIndex lane, const AgentCost& cost) const;
  Bytes wire_bytes(ConnectionId connection, Bytes payload) const;
  Time tail(ConnectionId connection, Bytes payload) const;
  void send(LaneIndex lane);
  void move(ConnectionId connection, Bytes size);
  void move_asking(ConnectionId connection);
  void count_incomplete(LaneIndex lane);
  void complete(ConnectionId connection);
  void pace(LaneIndex lane);
  void inputs_complete(LaneIndex lane);
  void release_sends(LaneIndex lane);
  void arrived(ConnectionId connection);
  void arrive_late(ConnectionId connection);
  template <class Index>
  void at(Time when, Awaited kind, Index index) {
    simulator_.at(when, id_, event_of(kind, index));
  }

  Simulator& simulator_;
  const MappedSchedule& mapped_;
  const Fabric& fabric_;
  ActorId id_;
  FabricNetwork beneath_;
  Network& network_;  ///< the one within `beneath_`
  Executor* executor_ = nullptr;
  std::vector<ExecutionObserver*> observers_;
  bool has_grains_;  ///< else no message is ever incomplete, withheld, early or late, and nothing of that is kept up
  bool has_pace_;    ///< else no sender is done later than its messages are handed over
  IdVector<LaneIndex, LaneState> lanes_;
  IdVector<ConnectionId, ConnectionState> connections_;
  IdVector<ConnectionId, std::deque<Asking>> asking_;  ///< in their order; empty where none has a handshake
};

}  // namespace athanor
