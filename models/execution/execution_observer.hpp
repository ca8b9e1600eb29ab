#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "models/execution/ids.hpp"
#include "sim/timeline.hpp"
#include "sim/units.hpp"

namespace athanor {

class Fabric;
struct FabricConnections;
struct MappedSchedule;

/// What a lane did in one primitive, from when its conditions held to when its sends had ended.
struct EndedPrimitive {
  LaneIndex lane;
  std::uint64_t loop = 0;
  std::uint32_t step = 0;
  Time begin;
  Time end;
  Bytes bytes;  ///< of one message
  std::uint32_t receives = 0;
  std::uint32_t sends = 0;
  std::uint32_t inputs = 0;
};

/// What the executor and its substrate have before them, each with a time at which it comes about.
enum class Awaited : std::uint32_t {
  launch,         ///< of the lanes of a start
  next_call,      ///< of a kernel: it begins another call; told to nobody
  send,           ///< of a lane: its overhead and what precedes its sends have passed
  work_done,      ///< of a lane: reducing beside its sends
  paced,          ///< of a lane: at its own rate it is done with its sends
  release_sends,  ///< of a lane: what it sends is complete
  late_delivery,  ///< of a connection: a message is complete after it was delivered
  handshake,      ///< of a connection: a message may begin to move; told to nobody
};

/// One of these, of a lane, a connection or a start.
template <class Index>
constexpr std::uint64_t event_of(Awaited kind, Index index) {
  return std::uint64_t{static_cast<std::uint32_t>(kind)} << 32U | index.value;
}
constexpr Awaited kind_of(std::uint64_t event) { return static_cast<Awaited>(event >> 32U); }

/// Told of what happens while a schedule is carried out, in its order. Each may leave out what it does not look at.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;

  /// Before all else: what is carried out, and where messages move over a network, that. Both outlive the run.
  virtual void begins(const MappedSchedule& /*mapped*/, const Schedule& /*schedule*/) {}
  virtual void begins_on(const FabricConnections& /*network*/, const Fabric& /*fabric*/) {}

  // Progress.
  /// A lane has ended a loop and has another one before it.
  virtual void loop_ended(LaneIndex /*lane*/) {}
  /// It has ended a call and has another one before it.
  virtual void call_ended(LaneIndex /*lane*/) {}
  virtual void primitive_ended(const EndedPrimitive& /*primitive*/) {}
  virtual void lane_ended(LaneIndex /*lane*/) {}

  // Causes: what follows on what. The effects of the present event (an awaited one, or one of the network) that come
  // about as `event`, after so much ...
  virtual void starts(std::uint64_t /*event*/, Time /*after*/) {}
  virtual void computes(std::uint64_t /*event*/, Time /*overhead*/, Time /*work*/) {}
  /// ... because the sender itself is busy with a message for a connection.
  virtual void sends(std::uint64_t /*event*/, ConnectionId /*connection*/, Time /*time*/) {}
  /// ... because the last grain of what a primitive received passes through it.
  virtual void passes(std::uint64_t /*event*/, ConnectionId /*connection*/, Time /*time*/) {}
  /// ... because a message that was released earlier is there one latency later.
  virtual void arrives_late(std::uint64_t /*event*/, ConnectionId /*connection*/) {}

  /// The present event is this awaited one, at `now` ...
  virtual void happens(std::uint64_t /*event*/, Time /*now*/) {}
  /// ... or one of the network's, which come in the order of the messages on each connection.
  virtual void left(ConnectionId /*connection*/, Time /*now*/) {}
  virtual void grain_arrived(ConnectionId /*connection*/, Time /*now*/) {}
  virtual void arrived(ConnectionId /*connection*/, Time /*now*/) {}

  /// Within an event: a message begins to move.
  virtual void moves(ConnectionId /*connection*/, Bytes /*wire_bytes*/) {}
  /// Within an event: what a message consists of is complete only now.
  virtual void released(ConnectionId /*connection*/) {}
};

/// Draws every primitive that an executor simulates: a process per agent, a track per lane. Where lanes are folded, the
/// lane drawn stands for its class and says for how many.
class TimelineRecorder final : public ExecutionObserver {
 public:
  /// `offset`: what happens before the executor's time zero; drawn as the launch.
  TimelineRecorder(Timeline& timeline, Time offset) : timeline_(timeline), offset_(offset) {}

  void begins(const MappedSchedule& mapped, const Schedule& schedule) override;
  void primitive_ended(const EndedPrimitive& primitive) override;

 private:
  Timeline& timeline_;
  Time offset_;
  IdVector<LaneIndex, Track> tracks_;
};

/// How many bytes were on their way out of their senders when, in as few parts of time as memory stays small with.
class SendingOverTime {
 public:
  /// Spreads bytes evenly over that time. Requires begin <= end.
  void add(Time begin, Time end, Bytes bytes);

  /// The share of all bytes that left in each of so many equal parts of the time from 0 to `until`; what left later is
  /// in none. All zero where nothing was sent. Requires parts >= 1 and until > 0.
  std::vector<double> shares(std::size_t parts, Time until) const;

 private:
  static constexpr std::size_t kParts = 4096;
  void widen();

  std::array<double, kParts> bytes_{};
  double total_ = 0;
  Time width_{1'000};  ///< of a part
};

/// When a pipeline is full and when it begins to empty: listens to a run of every loop.
///
/// It fills until the last of the lanes that receive has ended its first primitive that does, and drains from when the
/// first of the lanes that send has ended its last one that does. Times are the executor's, without the launch.
class PipelinePhases final : public ExecutionObserver {
 public:
  void primitive_ended(const EndedPrimitive& primitive) override;

  /// Zero where nothing was received.
  Time filled() const;
  /// Not before filled(): what never flows steadily fills and drains.
  Time draining() const;
  /// Of all lanes that were simulated; of those that share a class one counts.
  const SendingOverTime& sending() const { return sending_; }

 private:
  struct Lane {
    bool receives = false;
    bool sends = false;
    Time first_received;
    Time last_sent;
  };
  IdVector<LaneIndex, Lane> lanes_;
  SendingOverTime sending_;
};

}  // namespace athanor
