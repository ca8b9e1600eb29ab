#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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
  static constexpr std::uint32_t kNobody = 0xffffffff;

  enum class Phase : std::uint8_t { unlaunched, waiting, working, sending, ended };
  /// A lane in its present primitive.
  struct LaneState {
    std::uint64_t loop = 0;
    std::uint64_t primitives_ended = 0;
    std::uint64_t wait_ended = 0;
    Bytes element_size;
    Bytes bytes;  ///< of one message, payload
    Time begin_time;
    std::uint32_t wait_lane = kNobody;
    std::uint32_t next_waiter = kNobody;
    std::uint32_t first_waiter = kNobody;
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
  /// Connections from `first` to before `last`.
  struct Sends {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  /// Borrows all of them. `slots`: messages that each connection holds. Both where agents do not say.
  Executor(Simulator& simulator, const MappedSchedule& mapped, const Schedule& schedule, Substrate& substrate,
           Bytes element_size, std::uint32_t slots);

  /// Tells it of progress and launches; borrows it.
  void observe(ExecutionObserver& observer) {
    observers_.push_back(&observer);
    observer.begins(mapped_, schedule_);
  }

  /// Makes every lane begin as its start says, with `launch` as its time zero. Then Simulator::run() runs the
  /// collective.
  void start(Time launch);

  bool finished() const { return running_lanes_ == 0; }
  /// When the last lane ended.
  Time finish_time() const { return finish_; }
  /// When this lane ended.
  Time end_of(std::uint32_t lane) const { return ends_[lane]; }
  /// Primitives simulated (of class members, where the schedule is folded).
  std::uint64_t primitives() const { return primitives_; }
  /// Throws SimulationError("deadlock") that names who waits for what, unless finished().
  void require_finished() const;

  // For the substrate.
  const LaneState& lane(std::uint32_t lane) const { return lanes_[lane]; }
  /// The connections from which the lane's primitive receives.
  std::span<const std::uint32_t> receives_of(std::uint32_t lane) const {
    const LaneState& state = lanes_[lane];
    return std::span(mapped_.in_connections)
        .subspan(mapped_.lanes[lane].first_in + state.receives.first, state.receives.count);
  }
  /// The connections on which it sends.
  Sends sends_of(std::uint32_t lane) const {
    const std::uint32_t first = mapped_.lanes[lane].first_out + lanes_[lane].sends.first;
    return {first, first + lanes_[lane].sends.count};
  }
  /// Could the lane's primitive begin?
  bool startable(std::uint32_t lane) const { return lanes_[lane].phase == Phase::waiting && lanes_[lane].missing == 0; }
  /// Begins it when what the present event brings about has been told.
  void queue(std::uint32_t lane) { ready_.push_back(lane); }
  /// Begins what is queued; nothing while that goes on already. To be called at the end of every event.
  void drain();
  /// The lane's primitive sends from now on.
  void send(std::uint32_t lane) { lanes_[lane].phase = Phase::sending; }
  /// It does not end before one more part of it has.
  void hold(std::uint32_t lane) { ++lanes_[lane].unended; }
  void part_ended(std::uint32_t lane) {
    if (--lanes_[lane].unended == 0) { end(lane); }
  }
  /// One more message is there on which a receiver may begin.
  void usable(std::uint32_t connection);

  // Repetition of loops, see repetition.hpp.
  bool runs(std::uint32_t lane) const {
    return lanes_[lane].phase != Phase::unlaunched && lanes_[lane].phase != Phase::ended;
  }
  /// Appends all that decides the future but the loops in which lanes are, and what the substrate knows.
  void snapshot(std::vector<std::int64_t>& state) const;
  /// How often a period in which lane i went `advance[i]` loops on may be repeated, until some lane would enter its
  /// last loop or start what it waits with.
  std::uint64_t repeats(const std::vector<std::uint64_t>& advance) const;
  /// Lane i is `times * advance[i]` loops further on.
  void skip(std::uint64_t times, const std::vector<std::uint64_t>& advance);

  void on_event(std::uint64_t event) override;

 private:
  struct ConnectionState {
    std::uint32_t held = 0;       ///< slots that are taken
    std::uint32_t available = 0;  ///< messages whose use may start
  };

  void launch_at(Time when, std::uint32_t start);
  void launch(std::uint32_t start);
  void lane_ended(std::uint32_t lane);
  void start_ended(std::uint32_t start);
  void load(std::uint32_t lane);
  void count_missing(std::uint32_t lane);
  void met(std::uint32_t lane);
  void begin(std::uint32_t lane);
  void end(std::uint32_t lane);
  void wake_waiters(std::uint32_t lane);
  void tell_end(std::uint32_t lane) const;
  void advance(std::uint32_t lane);
  void slot_freed(std::uint32_t connection);
  std::uint32_t slots(std::uint32_t connection) const {
    return lanes_[mapped_.connections[connection].source_lane].slots;
  }
  std::string why_not_started(std::uint32_t lane) const;

  Simulator& simulator_;
  const MappedSchedule& mapped_;
  const Schedule& schedule_;
  Substrate& substrate_;
  ActorId id_;
  std::vector<ExecutionObserver*> observers_;
  std::vector<LaneState> lanes_;
  std::vector<ConnectionState> connections_;
  std::vector<std::uint32_t> ready_;  ///< lanes to begin
  bool draining_ = false;
  std::uint32_t running_lanes_ = 0;
  std::vector<std::uint32_t> running_of_start_;  ///< by start: lanes that have not ended
  std::vector<std::uint32_t> awaited_starts_;    ///< by start: of those that it comes after, how many have not ended
  std::uint32_t pending_launches_ = 0;
  Time launch_;
  std::vector<Time> ends_;  ///< by lane
  std::uint64_t primitives_ = 0;
  Time finish_;
};

}  // namespace athanor
