#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/execution/execution_observer.hpp"
#include "models/network/connections.hpp"
#include "models/network/link_use.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// Where the time of a chain of causes went. The parts add up to the time of its last effect.
struct PathShares {
  Time start;            ///< until lanes could begin
  Time overhead;         ///< of software, for each primitive and message
  Time work;             ///< reducing and copying
  TransferTime within;   ///< nodes; of its latency what is software's is overhead
  TransferTime between;  ///< nodes: over links of the network

  Time total() const { return start + overhead + work + within.total() + between.total(); }
};

/// The critical path of a run: the chain of causes that its end hangs on. Every effect (a primitive that may begin, a
/// message that is there) has one cause that came last; its shares are those of that cause and of what passed since. So
/// the path is followed forwards, along all chains at once, and needs memory only for what is under way.
///
/// The effects of one event are all that happens while it is handled.
class CriticalPath final : public ExecutionObserver {
 public:
  /// Forgets an earlier run.
  void begins_on(const FabricConnections& network, const Fabric& fabric) override;
  void lane_ended(LaneIndex /*lane*/) override { last_ = present_; }

  void starts(std::uint64_t event, Time after) override { plan_for(event).start += after; }
  void computes(std::uint64_t event, Time overhead, Time work) override;
  void sends(std::uint64_t event, ConnectionId connection, Time time) override;
  void passes(std::uint64_t event, ConnectionId connection, Time time) override {
    messages_of(plan_for(event), connection).transfer += time;
  }
  void arrives_late(std::uint64_t event, ConnectionId connection) override;

  /// Checks that the event's shares add up to its time.
  void happens(std::uint64_t event, Time now) override;
  void left(ConnectionId connection, Time now) override;
  void grain_arrived(ConnectionId connection, Time now) override;
  void arrived(ConnectionId connection, Time now) override;

  void moves(ConnectionId connection, Bytes wire_bytes) override;
  void released(ConnectionId connection) override { released_[connection] = present_; }

  /// Of the lane that ended last. Requires a run that is over.
  const PathShares& shares() const { return last_; }

 private:
  struct Message {
    PathShares begun;  ///< when it was handed over, then when it could leave
    PathShares gone;   ///< when its last byte had left
    Bytes bytes;
    bool left = false;
    bool told = false;  ///< its first grain is there
  };
  /// Messages under way, and when the last one before them had left.
  struct Queue {
    std::vector<Message> messages;
    PathShares gone;
  };

  PathShares& plan_for(std::uint64_t event) { return pending_[event] = present_; }
  TransferTime& messages_of(PathShares& shares, ConnectionId connection) const {
    return is_between_[connection.value] ? shares.between : shares.within;
  }
  Time alone(ConnectionId connection, Bytes bytes) const;
  /// What has passed since `begun`: at most so much of the first two, and sharing.
  PathShares passed(const PathShares& begun, ConnectionId connection, Time now, Time latency, Time transfer) const;
  /// What is beyond the links' is software's.
  void add_latency(PathShares& shares, ConnectionId connection, Time latency) const;
  void leave(ConnectionId connection, Message& message, Time now);

  const FabricConnections* network_ = nullptr;
  IdVector<ConnectionId, Bandwidth> rates_;    ///< alone
  IdVector<ConnectionId, Time> link_latency_;  ///< of its links
  std::vector<bool> is_between_;               ///< by connection
  IdVector<ConnectionId, Queue> queues_;
  std::unordered_map<std::uint64_t, PathShares> pending_;  ///< by event of the executor
  std::unordered_map<ConnectionId, PathShares> released_;
  PathShares present_;
  PathShares last_;
};

}  // namespace athanor
