#pragma once

#include <cstdint>
#include <vector>

#include "models/execution/blocks.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/processors.hpp"
#include "models/network/network.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Told when a lane has ended a loop and has another one before it.
class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  virtual void loop_ended(std::uint32_t lane) = 0;
};

/// What a lane did in one primitive, from when its conditions held to when its sends had ended.
struct EndedPrimitive {
  std::uint32_t lane = 0;  ///< of the plan
  std::uint64_t loop = 0;
  std::uint32_t step = 0;
  Time begin;
  Time end;
  Bytes bytes;  ///< of one message
  std::uint32_t receives = 0;
  std::uint32_t sends = 0;
  std::uint32_t inputs = 0;
};

class CriticalPath;

class PrimitiveListener {
 public:
  virtual ~PrimitiveListener() = default;
  virtual void primitive_ended(const EndedPrimitive& primitive) = 0;
};

/// Runs a plan on a network: starts each primitive when its wait holds, its messages are there and its slots are
/// free, prices it, and hands its sends to the network. Knows nothing of the algorithm.
///
/// A primitive takes its overhead, then its reducing (before its sends, or beside them where costs say overlapped),
/// then its sends until they have ended as their connection's SendEnd says. Receivers of connections with a grain
/// start on the first grain; what they pass on is then not complete before what they receive is.
///
/// Where lanes share processors, those decide when a primitive that could start does, and price it; its messages are
/// handed over in memory and do not touch the network. The same holds for lanes that are thread blocks of GPUs, which
/// say how long a primitive takes and begin it at once.
class Executor : public Actor, public MoveListener, public LaneRunner, public BlockListener {
 public:
  /// Borrows all of them. `slots`: messages that each connection holds. Both where the plan's agents do not say.
  Executor(Simulator& simulator, const MappedSchedule& plan, const Schedule& schedule, Bytes element_size,
           std::uint32_t slots);

  /// The network must outlive the run; it reports to this executor.
  void connect(Network& network) { network_ = &network; }
  /// Lanes share these. Requires a plan that is not folded, and no Repetition: caches remember every loop.
  void share(Processors& processors) {
    processors_ = &processors;
    processors.serve(*this);
  }
  /// Lanes are these. Requires the same.
  void run_on(Blocks& blocks) { blocks_ = &blocks; }
  void listen(ProgressListener& listener) { listener_ = &listener; }
  void record(PrimitiveListener& recorder) { recorder_ = &recorder; }
  /// Tells it what causes what. Requires a network, and no Repetition.
  void trace(CriticalPath& path) { path_ = &path; }

  /// Makes every lane begin as its start in the plan says, with `launch` as its time zero. Then Simulator::run() runs
  /// the collective.
  void start(Time launch);

  bool finished() const { return running_lanes_ == 0; }
  /// When the last lane ended.
  Time finish_time() const { return finish_; }
  /// When this lane of the plan ended.
  Time end_of(std::uint32_t lane) const { return ends_[lane]; }
  /// Primitives simulated (of class members, where the plan is folded).
  std::uint64_t primitives() const { return primitives_; }
  /// Throws SimulationError("deadlock") that names who waits for what, unless finished().
  void require_finished() const;

  // Repetition of loops, see repetition.hpp.
  bool runs(std::uint32_t lane) const {
    return lanes_[lane].phase != Phase::unlaunched && lanes_[lane].phase != Phase::ended;
  }
  std::uint64_t loop(std::uint32_t lane) const { return lanes_[lane].loop; }
  /// Appends all that decides the future, in times relative to now, but the loops in which lanes are.
  void snapshot(std::vector<std::int64_t>& state) const;
  /// How often a period in which lane i went `advance[i]` loops on may be repeated, until some lane would enter its
  /// last loop or start what it waits with.
  std::uint64_t repeats(const std::vector<std::uint64_t>& advance) const;
  /// Lane i is `times * advance[i]` loops further on, and everything `by` later.
  void warp(Time by, std::uint64_t times, const std::vector<std::uint64_t>& advance);

  bool startable(std::uint32_t lane) const override {
    return lanes_[lane].phase == Phase::waiting && lanes_[lane].missing == 0;
  }
  bool ended(std::uint32_t lane) const override { return lanes_[lane].phase == Phase::ended; }
  void begin_soon(std::uint32_t lane) override;
  void block_done(std::uint32_t lane) override;

  void on_event(std::uint64_t what) override;
  void injected(std::uint32_t connection) override;
  void grain_arrived(std::uint32_t connection) override;
  void delivered(std::uint32_t connection) override;

 private:
  /// What an event of the executor is about.
  enum class Kind : std::uint32_t {
    launch,
    send,
    work_done,
    paced,
    release_sends,
    late_delivery,
    handed_over,
    block_moves
  };
  enum class Phase : std::uint8_t { unlaunched, waiting, working, sending, ended };

  struct LaneState {
    std::uint64_t loop = 0;
    std::uint64_t primitives_ended = 0;
    std::uint64_t wait_ended = 0;  // of the present primitive
    Bytes element_size;
    Bytes bytes;  // of one message of the present primitive, payload
    Time begin_time;
    Time send_time;  // when its events are due
    Time work_time;
    Time pace_time;
    Time release_time;
    std::uint32_t wait_lane = kNobody;  // of the present primitive
    std::uint32_t next_waiter = kNobody;
    std::uint32_t first_waiter = kNobody;
    std::uint32_t step = 0;
    Ports receives;
    Ports sends;
    std::uint32_t inputs = 0;
    std::uint32_t missing = 0;     // conditions of its start that do not hold
    std::uint32_t unended = 0;     // sends and work that must end before the primitive does
    std::uint32_t incomplete = 0;  // messages of which only a grain is there
    std::uint32_t slots = 0;       // of each connection that it sends on
    Phase phase = Phase::unlaunched;
    bool unreleased = false;  // what it sends is not complete yet, because what it receives is not
  };
  struct ConnectionState {
    Time not_before;              // the message number `late` is not complete earlier
    Time late_time;               // when it is, where that is after its delivery
    std::uint32_t held = 0;       // slots that are taken
    std::uint32_t available = 0;  // messages whose use may start
    std::uint32_t complete = 0;   // of those, arrived whole
    std::uint32_t moved = 0;      // messages handed to the network, modulo 2^32
    std::uint32_t landed = 0;     // of those, reported delivered
    std::uint32_t late = 0;
    bool withheld = false;  // the newest message waits for what its sender still receives
    bool early = false;     // it was delivered meanwhile
  };
  static constexpr std::uint32_t kNobody = 0xffffffff;

  void launch_at(Time when, std::uint32_t start);
  void launch(std::uint32_t start);
  void lane_ended(std::uint32_t lane);
  void start_ended(std::uint32_t start);
  void load(std::uint32_t lane);
  void count_missing(std::uint32_t lane);
  void met(std::uint32_t lane);
  void drain();
  void begin(std::uint32_t lane);
  void send(std::uint32_t lane);
  void pace(std::uint32_t lane);
  void move_by_block(std::uint32_t lane);
  void hand_over(std::uint32_t connection);
  void part_ended(std::uint32_t lane);
  void end(std::uint32_t lane);
  void wake_waiters(std::uint32_t lane);
  void tell_recorder(std::uint32_t lane) const;
  void advance(std::uint32_t lane);
  void inputs_complete(std::uint32_t lane);
  void release_sends(std::uint32_t lane);
  void usable(std::uint32_t connection);
  void arrived(std::uint32_t connection);
  void arrive_late(std::uint32_t connection);
  void slot_freed(std::uint32_t connection);
  void wake(std::uint32_t lane, std::uint32_t by);
  std::uint32_t slots(std::uint32_t connection) const {
    return lanes_[plan_.connections[connection].source_lane].slots;
  }
  static bool waits_for_slot(const LaneState& lane, std::uint32_t port);
  static Time local_work(const LaneState& state, const AgentCost& cost);
  Bytes wire_bytes(std::uint32_t connection, Bytes payload) const;
  static std::uint64_t code(Kind kind, std::uint32_t index) {
    return std::uint64_t{static_cast<std::uint32_t>(kind)} << 32U | index;
  }
  void at(Time when, Kind kind, std::uint32_t index) { simulator_.at(when, id_, code(kind, index)); }
  std::string why_not_started(std::uint32_t lane) const;

  Simulator& simulator_;
  const MappedSchedule& plan_;
  const Schedule& schedule_;
  ActorId id_;
  Network* network_ = nullptr;
  Processors* processors_ = nullptr;
  Blocks* blocks_ = nullptr;
  ProgressListener* listener_ = nullptr;
  PrimitiveListener* recorder_ = nullptr;
  CriticalPath* path_ = nullptr;
  std::vector<LaneState> lanes_;
  std::vector<ConnectionState> connections_;
  std::vector<std::uint32_t> ready_;  // lanes to begin
  bool draining_ = false;
  std::uint32_t running_lanes_ = 0;
  std::vector<std::uint32_t> running_of_start_;  // lanes that have not ended
  std::vector<std::uint32_t> awaited_starts_;    // by start: of those that it comes after, how many have not ended
  std::uint32_t pending_launches_ = 0;
  Time launch_;
  std::vector<Time> ends_;  // by lane
  std::uint64_t primitives_ = 0;
  Time finish_;
};

}  // namespace athanor
