#pragma once

#include <cstdint>
#include <vector>

#include "models/network/network.hpp"
#include "models/network/timer.hpp"

namespace athanor {

/// Messages on their way from injection to delivery. All connections of one latency share a pipe, which is first in,
/// first out by nature: it needs no sorting and has one pending event, however many messages are in it.
class DeliveryPipes {
 public:
  /// Pipe p is woken by event `first_event` + p of the actor.
  DeliveryPipes(Simulator& simulator, ActorId actor, std::uint64_t first_event, const FlowGraph& graph);

  /// A message of the connection has been injected now.
  void enter(ConnectionId connection, Time now);

  /// Calls `deliver(connection)` for all that is due in the pipe that event first_event + pipe has woken.
  template <class Deliver>
  void deliver_due(std::uint64_t pipe, Time now, Deliver deliver);

  void fast_forward(Time by);
  /// Appends what is under way, with times relative to `now`.
  void snapshot(Time now, std::vector<std::int64_t>& state) const;

 private:
  struct Entry {
    Time when;
    ConnectionId connection;
  };
  struct Pipe {
    Time latency;
    Timer alarm;
    std::vector<Entry> places;  ///< a power of two of places
    std::size_t first = 0;
    std::size_t entries = 0;

    const Entry& at(std::size_t k) const { return places[(first + k) & (places.size() - 1)]; }
    void grow();
  };

  std::vector<Pipe> pipes_;
  IdVector<ConnectionId, std::uint32_t> pipe_of_;
};

template <class Deliver>
void DeliveryPipes::deliver_due(std::uint64_t pipe, Time now, Deliver deliver) {
  pipes_[pipe].alarm.rang();
  for (;;) {
    Pipe& self = pipes_[pipe];
    if (self.entries == 0) { return; }
    const Entry oldest = self.at(0);
    if (oldest.when > now) { return self.alarm.set(oldest.when); }
    ++self.first;
    --self.entries;
    deliver(oldest.connection);
  }
}

}  // namespace athanor
