#pragma once

#include <cstdint>
#include <vector>

#include "models/network/heap.hpp"
#include "models/network/network.hpp"
#include "models/network/timer.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"

namespace athanor {

/// First-in, first-out queues of message sizes, one for each connection, in one pool: nothing is allocated once the
/// pool has grown to the most messages that ever waited at a time.
class MessageQueues {
 public:
  explicit MessageQueues(std::size_t connections) : queues_(connections) {}

  bool empty(ConnectionId connection) const { return queues_[connection].length == 0; }
  /// Requires !empty(connection).
  Bytes front(ConnectionId connection) const { return pool_[queues_[connection].head].size; }
  void push(ConnectionId connection, Bytes size);
  /// Requires !empty(connection).
  void pop(ConnectionId connection);
  /// Appends the length of the queue and its sizes, in order.
  void snapshot(ConnectionId connection, std::vector<std::int64_t>& state) const;

 private:
  struct Message {
    Bytes size;
    std::uint32_t next = 0;
  };
  struct Queue {
    std::uint32_t head = 0;
    std::uint32_t tail = 0;
    std::uint32_t length = 0;
  };
  std::uint32_t take_free();

  static constexpr std::uint32_t kNone = UINT32_MAX;
  IdVector<ConnectionId, Queue> queues_;
  std::vector<Message> pool_;
  std::uint32_t free_ = kNone;
};

/// When each connection will have injected its present message, earliest first; at most one entry a connection, which
/// can be moved or taken out. Equal times have no order.
class Completions {
 public:
  explicit Completions(std::size_t connections) : place_(connections, kOut) {}

  bool empty() const { return heap_.empty(); }
  /// Requires !empty().
  Time next() const { return heap_.front().when; }
  /// Takes out the earliest and returns its connection. Requires !empty().
  ConnectionId pop();
  /// Puts the connection in, or moves it.
  void set(ConnectionId connection, Time when);
  /// Requires that the connection is in.
  Time when(ConnectionId connection) const { return heap_[place_[connection]].when; }
  void fast_forward(Time by);

 private:
  struct Entry {
    Time when;
    ConnectionId connection;

    bool before(const Entry& other) const { return when < other.when; }
  };
  auto remember_place() {
    return
        [this](const Entry& entry, std::size_t place) { place_[entry.connection] = static_cast<std::uint32_t>(place); };
  }

  static constexpr std::uint32_t kOut = UINT32_MAX;
  std::vector<Entry> heap_;
  IdVector<ConnectionId, std::uint32_t> place_;  ///< in the heap
};

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
  /// Appends what is under way in a canonical order, with times relative to `now`.
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

/// What a network has to tell its listener, in the order in which it must be told when times are equal.
enum class Notice : std::uint32_t { injected, grain_arrived, delivered };

/// Notices to be given, earliest first. Equal ones have no order among themselves.
class NoticeQueue {
 public:
  struct Entry {
    Time when;
    Notice notice = Notice::injected;
    ConnectionId connection;
    std::int64_t note = 0;  ///< for the network's own use

    bool before(const Entry& other) const { return when != other.when ? when < other.when : notice < other.notice; }
  };

  bool empty() const { return heap_.empty(); }
  /// Requires !empty().
  const Entry& top() const { return heap_.front(); }
  void push(const Entry& entry) { heap_push(heap_, entry); }
  /// Requires !empty().
  void pop() { heap_pop(heap_); }
  void fast_forward(Time by);
  /// Appends the entries in a canonical order, with times relative to `now`.
  void snapshot(Time now, std::vector<std::int64_t>& state) const;

 private:
  std::vector<Entry> heap_;
};

}  // namespace athanor
