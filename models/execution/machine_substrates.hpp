#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/execution/mapped_schedule.hpp"
#include "models/execution/substrate.hpp"
#include "models/network/flow_network.hpp"
#include "models/shared_memory/primitive_work.hpp"
#include "models/software/gpu_costs.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// A machine whose lanes exchange messages in memory: one is in memory as soon as it is sent, and there as soon as its
/// receiver can know of it.
class MemorySubstrate : public Substrate, public Actor {
 public:
  void serve(Executor& executor) override { executor_ = &executor; }

 protected:
  static constexpr std::uint32_t kMessage = 0;  ///< of kinds of events: a message is there

  /// Borrows both.
  MemorySubstrate(Simulator& simulator, const MappedSchedule& mapped, Calls calls)
      : Substrate(calls), simulator_(simulator), mapped_(mapped), id_(simulator.add(*this)) {}

  /// Until the second lane can know what the first one has done.
  virtual Time notice(LaneIndex lane, LaneIndex other) const = 0;
  /// Sends the messages of the lane's primitive, which has done all else.
  void send(LaneIndex lane);
  template <class Kind>
  void at(Time when, Kind kind, std::uint32_t index) {
    simulator_.at(when, id_, std::uint64_t{static_cast<std::uint32_t>(kind)} << 32U | index);
  }

  Simulator& simulator_;
  const MappedSchedule& mapped_;
  Executor* executor_ = nullptr;

 private:
  ActorId id_;
};

/// Processors that share the lanes of a schedule as the workers of the threads executor do: a lane that may have become
/// able to go on queues at its processor, first in, first out; the processor takes it up, carries out primitives as
/// long as one follows on the other, and turns to the next lane. An idle processor falls asleep after a while. A
/// message is in memory as soon as it is sent, and there as soon as its receiver can know of it.
class ThreadSubstrate final : public MemorySubstrate {
 public:
  /// Borrows all of them. `work` knows on which processor a lane runs, and what the schedule costs there. Requires a
  /// schedule that is not folded: caches remember every lane and loop.
  ThreadSubstrate(Simulator& simulator, const MappedSchedule& mapped, const ThreadCosts& costs, PrimitiveWork& work,
                  std::uint32_t processors);

  /// All lanes queue, in their order.
  void launched() override;
  void ready(LaneIndex /*lane*/) override {}  // until a processor takes it up
  void wake(LaneIndex lane, LaneIndex by) override;
  void begin(LaneIndex lane) override;
  void released(LaneIndex lane) override { take_up(lane); }

  void on_event(std::uint64_t event) override;

 private:
  enum class Kind : std::uint32_t { message = kMessage, notice, awake, turn, send };
  enum class Activity : std::uint8_t { blocked, queued, running };
  struct Lane {
    Activity activity = Activity::blocked;
    bool known = false;  ///< has had its first turn
  };
  struct Processor {
    std::deque<LaneIndex> queue;
    bool busy = false;
    Time idle_since;
  };

  Time notice(LaneIndex lane, LaneIndex other) const override;
  void enqueue(LaneIndex lane);
  std::uint32_t processor(LaneIndex lane) const { return work_.processor(lane.value); }
  void take_next(std::uint32_t processor);
  void take_up(LaneIndex lane);

  const ThreadCosts& costs_;
  PrimitiveWork& work_;
  IdVector<LaneIndex, Lane> lanes_;
  std::vector<Processor> processors_;
};

/// Thread blocks that carry out the lanes of a schedule on GPUs, a block for each. What a primitive reads and what it
/// writes in its GPU are streams one behind the other, of at most `block_read_rate` and `block_write_rate`; all streams
/// of a GPU share its cache, and those of what the cache does not hold its memory, max-min fairly. What goes into
/// another GPU is a stream of its own for each connection, which the blocks of both GPUs share the link between them
/// for. A primitive is done when all its streams are; then its messages are there as soon as their receivers see a
/// flag.
class GpuSubstrate final : public MemorySubstrate, public MoveListener {
 public:
  /// Borrows all of them. Agent a is on GPU a * gpus / agents, as the executor spreads them. `slots`: of a connection.
  /// Requires a schedule that is not folded. Throws SimulationError("gpu-residency") where a GPU has more lanes than
  /// resident blocks.
  GpuSubstrate(Simulator& simulator, const MappedSchedule& mapped, const Schedule& schedule, const GpuCosts& costs,
               std::uint32_t gpus, Bytes element_size, std::uint32_t slots);

  void ready(LaneIndex lane) override;
  void begin(LaneIndex lane) override;

  void on_event(std::uint64_t event) override;
  void injected(ConnectionId stream) override;
  void grain_arrived(ConnectionId) override {}
  void delivered(ConnectionId) override {}

 private:
  enum class Kind : std::uint32_t { message = kMessage, move };
  /// What a primitive moves in its GPU: reads and writes in the cache, then reads and writes in memory.
  static constexpr std::uint32_t kParts = 4;

  std::uint32_t gpu(LaneIndex lane) const { return gpu_of_[lane]; }
  Time notice(LaneIndex lane, LaneIndex other) const override {
    return gpu(lane) == gpu(other) ? costs_.flag : costs_.peer_flag;
  }
  void require_residency(std::uint32_t gpus) const;
  void find_cached(std::uint32_t gpus, std::uint32_t slots);
  void lay_out_streams(std::uint32_t gpus);
  IdVector<ConnectionId, std::uint64_t> messages_sent() const;
  Primitive present(LaneIndex lane) const;
  void move(LaneIndex lane);
  void stream(LaneIndex lane, ConnectionId number, Bytes bytes);
  void move_next(LaneIndex lane);
  void stream_ended(LaneIndex lane);

  const Schedule& schedule_;
  const GpuCosts& costs_;
  Bytes element_size_;
  IdVector<LaneIndex, std::uint32_t> gpu_of_;
  std::vector<double> cached_slots_;    ///< by GPU, the share of its connections' slots
  std::vector<double> cached_buffers_;  ///< by GPU, the share of its agents' buffers, beside the slots
  FlowGraph streams_;                   ///< of each lane's parts, then of each connection between two GPUs
  IdVector<ConnectionId, ConnectionId> peer_stream_;        ///< by connection of the mapped schedule
  IdVector<ConnectionId, LaneIndex> lane_of_;               ///< by stream
  IdVector<LaneIndex, std::uint32_t> unended_;              ///< streams of its primitive
  IdVector<LaneIndex, std::array<Bytes, kParts>> unmoved_;  ///< parts of its primitive that have not begun
  std::unique_ptr<FlowNetwork> memory_;
};

}  // namespace athanor
