#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/network/connections.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

/// Where the time of a chain of causes went. The parts add up to the time of its last effect.
struct PathShares {
  /// Of messages over one kind of way.
  struct Way {
    Time latency;                ///< of links
    Time transfer;               ///< of bytes, at the rate that the connection has when it is alone
    Time sharing;                ///< what moving bytes took beyond that: links shared with others, queues, handshakes
    std::uint64_t messages = 0;  ///< whose bytes are on the path

    Time total() const { return latency + transfer + sharing; }
  };
  Time start;     ///< until lanes could begin
  Time overhead;  ///< of software, for each primitive and message
  Time work;      ///< reducing and copying
  Way within;     ///< nodes
  Way between;    ///< nodes: over links of the network

  Time total() const { return start + overhead + work + within.total() + between.total(); }
};

/// The critical path of a run: the chain of causes that its end hangs on. Every effect (a primitive that may begin, a
/// message that is there) has one cause that came last; its shares are those of that cause and of what passed since. So
/// the path is followed forwards, along all chains at once, and needs memory only for what is under way.
///
/// The executor tells what happens: while it handles one event, everything that it does is an effect of that event.
class CriticalPath {
 public:
  /// Before a run; forgets an earlier one. Borrows both.
  void follow(const FabricConnections& network, const Fabric& fabric);

  /// The effect of the present event that will come about as event `what` of the executor, after so much.
  void starts(std::uint64_t what, Time after) { plan_for(what).start += after; }
  void computes(std::uint64_t what, Time overhead, Time work);
  /// The sender itself is busy with a message for a connection.
  void sends(std::uint64_t what, std::uint32_t connection, Time time);
  /// The last grain of what a primitive received passes through it.
  void passes(std::uint64_t what, std::uint32_t connection, Time time) {
    way(plan_for(what), connection).transfer += time;
  }
  /// A message that was released earlier is there one latency later.
  void arrives_late(std::uint64_t what, std::uint32_t connection);

  /// The present event is this one of the executor's, at `now`. Checks that its shares add up to that.
  void happens(std::uint64_t what, Time now);
  /// It is one of the network's, in the order of messages on each connection.
  void left(std::uint32_t connection, Time now);
  void grain_arrived(std::uint32_t connection, Time now);
  void arrived(std::uint32_t connection, Time now);

  /// Within an event: a message begins to move.
  void moves(std::uint32_t connection, Bytes wire_bytes);
  /// What it consists of is complete only now.
  void released(std::uint32_t connection) { released_[connection] = present_; }
  void lane_ended() { last_ = present_; }

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

  PathShares& plan_for(std::uint64_t what) { return pending_[what] = present_; }
  PathShares::Way& way(PathShares& shares, std::uint32_t connection) const {
    return is_between_[connection] ? shares.between : shares.within;
  }
  Time alone(std::uint32_t connection, Bytes bytes) const;
  /// What has passed since `begun`: at most so much of the first two, and sharing.
  PathShares passed(const PathShares& begun, std::uint32_t connection, Time now, Time latency, Time transfer) const;
  /// What is beyond the links' is software's.
  void add_latency(PathShares& shares, std::uint32_t connection, Time latency) const;
  void leave(std::uint32_t connection, Message& message, Time now);

  const FabricConnections* network_ = nullptr;
  std::vector<Bandwidth> rates_;    ///< of each connection, alone
  std::vector<Time> link_latency_;  ///< of each connection's links
  std::vector<bool> is_between_;
  std::vector<Queue> queues_;
  std::unordered_map<std::uint64_t, PathShares> pending_;   ///< by event of the executor
  std::unordered_map<std::uint32_t, PathShares> released_;  ///< by connection
  PathShares present_;
  PathShares last_;
};

}  // namespace athanor
