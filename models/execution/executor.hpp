#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/execution/call_kernels.hpp"
#include "models/execution/execution_observer.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/substrate.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Runs a mapped schedule on a substrate: says which primitive may begin (its wait holds, its messages are there and
/// its slots are free), and what its end brings about. Knows nothing of the algorithm, and nothing of what primitives
/// and messages cost.
class Executor final : public Actor {
 public:
  static constexpr LaneIndex kNobody{0xffffffff};

  enum class Phase : std::uint8_t { unlaunched, waiting, working, sending, ended };
  /// A lane in its present primitive.
  struct LaneState {
    std::uint64_t loop = 0;  ///< of the present call
    std::uint32_t call = 0;
    std::uint64_t primitives_ended = 0;  ///< in all calls
    std::uint64_t wait_ended = 0;
    Bytes element_size;
    Bytes bytes;  ///< of one message, payload
    Time begin_time;
    LaneIndex wait_lane = kNobody;
    LaneIndex next_waiter = kNobody;
    LaneIndex first_waiter = kNobody;
    std::uint32_t step = 0;
    Ports receives;
    Ports sends;
    std::uint32_t inputs = 0;
    std::uint32_t missing = 0;  ///< conditions of its start that do not hold
    std::uint32_t unended = 0;  ///< sends and work that must end before the primitive does
    std::uint32_t slots = 0;    ///< of each connection that the lane sends on
    Phase phase = Phase::unlaunched;

    bool begun() const { return phase == Phase::working || phase == Phase::sending; }
  };

  /// Borrows all of them. `slots`: messages that each connection holds. Both where agents do not say.
  Executor(Simulator& simulator, const MappedSchedule& mapped, const Schedule& schedule, Substrate& substrate,
           Bytes element_size, std::uint32_t slots);

  /// Tells it of progress and launches; borrows it.
  void observe(ExecutionObserver& observer) {
    observers_.push_back(&observer);
    observer.begins(mapped_, schedule_);
  }

  /// Calls it again and again. Before start(); requires that nothing waits for a start.
  void repeat(const CallLoop& loop);

  /// Makes every lane begin as its start says, with `launch` as its time zero. Then Simulator::run() runs the
  /// collective.
  void start(Time launch);

  bool finished() const { return running_lanes_ == 0; }
  /// When the last lane ended.
  Time finish_time() const { return finish_; }
  /// When this lane ended.
  Time end_of(LaneIndex lane) const { return ends_[lane]; }
  /// Who calls; none where there is one call.
  const std::optional<CallKernels>& kernels() const { return kernels_; }
  /// Primitives simulated (of class members, where the schedule is folded).
  std::uint64_t primitives() const { return primitives_; }
  /// Throws SimulationError("deadlock") that names who waits for what, unless finished().
  void require_finished() const;

  // For the substrate.
  const LaneState& lane(LaneIndex lane) const { return lanes_[lane]; }
  /// The connections from which the lane's primitive receives.
  std::span<const ConnectionId> receives_of(LaneIndex lane) const {
    const LaneState& state = lanes_[lane];
    return std::span(mapped_.in_connections)
        .subspan(mapped_.lanes[lane].first_in + state.receives.first, state.receives.count);
  }
  /// The connections on which it sends.
  IdRange<ConnectionId> sends_of(LaneIndex lane) const {
    const Ports& sends = lanes_[lane].sends;
    const ConnectionId first{mapped_.lanes[lane].first_out.value + sends.first};
    return {first, ConnectionId{first.value + sends.count}};
  }
  /// Could the lane's primitive begin?
  bool startable(LaneIndex lane) const { return lanes_[lane].phase == Phase::waiting && lanes_[lane].missing == 0; }
  /// Begins it when what the present event brings about has been told.
  void queue(LaneIndex lane) { ready_.push_back(lane); }
  /// Begins what is queued; nothing while that goes on already. To be called at the end of every event.
  void drain();
  /// The lane's primitive sends from now on.
  void send(LaneIndex lane) { lanes_[lane].phase = Phase::sending; }
  /// It does not end before one more part of it has.
  void hold(LaneIndex lane) { ++lanes_[lane].unended; }
  void part_ended(LaneIndex lane) {
    if (--lanes_[lane].unended == 0) { end(lane); }
  }
  /// One more message is there on which a receiver may begin.
  void usable(ConnectionId connection);

  // Repetition of loops and steps, see repetition.hpp and step_repetition.hpp.
  /// What stands for where a lane is in its loop: the step, or what its primitive is like.
  enum class Place : std::uint8_t { step, likeness };
  bool runs(LaneIndex lane) const {
    return lanes_[lane].phase != Phase::unlaunched && lanes_[lane].phase != Phase::ended;
  }
  /// Appends all that decides the future but the loops in which lanes are, and what the substrate knows; by likeness
  /// but the steps, too, and what further primitives are like.
  void snapshot(std::vector<std::int64_t>& state, Place place) const;
  /// How often a period in which lane i went `advance[i]` loops on may be repeated, until some lane would enter its
  /// last loop or start what it waits with.
  std::uint64_t repeats(const IdVector<LaneIndex, std::uint64_t>& advance) const;
  /// Lane i is `times * advance[i]` loops further on, and all is `by` later.
  void skip(std::uint64_t times, const IdVector<LaneIndex, std::uint64_t>& advance, Time by);
  /// Loops of a lane in all its calls until now.
  std::uint64_t loops_ended(LaneIndex lane) const {
    return lanes_[lane].call * mapped_.lanes[lane].loops + lanes_[lane].loop;
  }
  /// How often a period in which lane i went `advance[i]` steps on may be repeated, until some lane's primitives are
  /// not like those of the period, its loop ends or it would start what it waits with.
  std::uint64_t step_repeats(const IdVector<LaneIndex, std::uint32_t>& advance) const;
  /// Lane i is `times * advance[i]` steps further on, and all is `by` later.
  void skip_steps(std::uint32_t times, const IdVector<LaneIndex, std::uint32_t>& advance, Time by);
  /// How often a period in which every lane went so many calls on may be repeated, until some lane would end its last.
  std::uint64_t call_repeats(std::uint32_t advance) const;
  /// Every lane is so many calls further on, and all is `by` later.
  void skip_calls(std::uint32_t calls, Time by);

  void on_event(std::uint64_t event) override;

 private:
  struct ConnectionState {
    std::uint32_t held = 0;       ///< slots that are taken
    std::uint32_t available = 0;  ///< messages whose use may start
  };

  std::uint64_t alike_steps(LaneIndex lane, std::uint32_t advance, std::uint64_t limit) const;
  void launch_at(Time when, StartIndex start);
  void launch(StartIndex start);
  void lane_ended(LaneIndex lane);
  void call_ended(LaneIndex lane);
  void next_call(KernelIndex kernel);
  void delay_kernels(Time by);
  /// Primitives of a lane in one call.
  std::uint64_t primitives_of(LaneIndex lane) const { return mapped_.lanes[lane].loops * mapped_.lanes[lane].steps; }
  void start_ended(StartIndex start);
  void load(LaneIndex lane);
  void count_missing(LaneIndex lane);
  void met(LaneIndex lane);
  void begin(LaneIndex lane);
  void end(LaneIndex lane);
  void wake_waiters(LaneIndex lane);
  void tell_end(LaneIndex lane) const;
  void advance(LaneIndex lane);
  void slot_freed(ConnectionId connection);
  std::uint32_t slots(ConnectionId connection) const {
    return lanes_[mapped_.connections[connection].source_lane].slots;
  }
  std::string why_not_started(LaneIndex lane) const;

  Simulator& simulator_;
  const MappedSchedule& mapped_;
  const Schedule& schedule_;
  Substrate& substrate_;
  ActorId id_;
  std::vector<ExecutionObserver*> observers_;
  IdVector<LaneIndex, LaneState> lanes_;
  IdVector<ConnectionId, ConnectionState> connections_;
  std::vector<LaneIndex> ready_;  ///< lanes to begin
  bool draining_ = false;
  std::uint32_t running_lanes_ = 0;
  IdVector<StartIndex, std::uint32_t> running_of_start_;  ///< lanes that have not ended
  IdVector<StartIndex, std::uint32_t> awaited_starts_;    ///< starts that it comes after and that have not ended
  std::uint32_t pending_launches_ = 0;
  CallLoop loop_;
  std::optional<CallKernels> kernels_;
  Time launch_;
  IdVector<LaneIndex, Time> ends_;
  std::uint64_t primitives_ = 0;
  Time finish_;
};

}  // namespace athanor
