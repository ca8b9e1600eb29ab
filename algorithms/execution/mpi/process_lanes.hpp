#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/execution/apply.hpp"
#include "algorithms/execution/mpi/endpoints.hpp"
#include "algorithms/execution/mpi/receive_plan.hpp"
#include "algorithms/execution/rank_memory.hpp"

namespace athanor {

/// Memory for the messages of a process that do not lie in the buffers of its agents: `slots` per connection, each
/// allocated when it is first used, for most never are. A slot never moves, since a send may still read it.
class SlotRoom {
 public:
  /// `bytes`: of the longest message.
  SlotRoom(std::size_t connections, std::uint32_t slots, std::size_t bytes)
      : slots_(slots), bytes_(bytes), rooms_(connections * slots) {}

  std::byte* slot(std::size_t connection, std::uint64_t message) {
    std::optional<PageMemory>& room = rooms_[connection * slots_ + message % slots_];
    if (!room) { room.emplace(bytes_); }
    return room->bytes().data();
  }

 private:
  std::uint32_t slots_;
  std::size_t bytes_;
  std::vector<std::optional<PageMemory>> rooms_;
};

/// The lanes of the agents that live in this process as state machines, carried out side by side by one thread.
///
/// A message is sent from where its value lies: from the operand where nothing is reduced, from the store, or from a
/// slot where the value is not stored as one piece. It is received straight into the store where ReceivePlan allows.
/// Memory that a send still reads is not written: the primitive that would do so waits, be the primitive that sent
/// ended or not.
///
/// That wait cannot deadlock where the schedule does not, if it has no race: what a send under way waits for is that
/// its receive be posted, and receives are posted in time, into a slot where the store is not free (see post()).
class ProcessLanes {
 public:
  /// `memory`: of all agents, used of those of this process. Requires that all outlive this.
  ProcessLanes(const Communicator& communicator, const Schedule& schedule, const Wiring& wiring, const Reducer& reducer,
               std::vector<AgentMemory> memory, std::uint32_t slots);

  /// Back to the beginning. Requires that all is ended.
  void start();
  /// Lets MPI work, then runs what can: at most one primitive of each lane. False where nothing happened.
  bool progress();
  /// Receives that wait for their store to become free get a slot.
  void post_all();
  /// Have all primitives ended, and all sends?
  bool ended() const { return unended_ == 0 && endpoints_.sends_under_way() == 0; }
  /// The lanes of this process that have not ended and what they wait for: "rank 3, lane 0, loop 1, step 5 waits for
  /// message 2 of rank 2, lane 0; ...".
  std::string obstacles() const;

 private:
  struct State {
    std::uint32_t lane = 0;  ///< in the wiring
    Primitive primitive;
    std::uint64_t index = 0;
    std::uint64_t total = 0;
    bool loaded = false;
    bool queued = false;
    std::vector<std::uint32_t> waiting;  ///< lanes that wait for this one
  };
  /// From where to where a primitive moves its value.
  struct Move {
    std::vector<Source> sources;
    std::vector<Target> targets;
    const std::byte* outgoing = nullptr;
  };

  void add_agent(AgentId agent);
  std::span<const PlannedReceive> plan(std::uint32_t connection) const;
  State& state(std::uint32_t lane) { return states_[local_[lane]]; }
  const State& state(std::uint32_t lane) const { return states_[local_[lane]]; }
  const WiredLane& wired(const State& state) const { return wiring_.lanes[state.lane]; }
  std::uint32_t in(const State& state, std::uint32_t port) const {
    return wired(state).first_in + state.primitive.receives.first + port;
  }
  std::uint32_t out(const State& state, std::uint32_t port) const {
    return wiring_.outgoing[wired(state).first_out + state.primitive.sends.first + port];
  }
  std::size_t bytes(Elements count) const { return static_cast<std::size_t>(count.count()) * reducer_.kernels.size; }

  void wake(std::uint32_t lane);
  bool advance(State& state);
  bool ready(State& state);
  void receive(const State& state);
  void send(const State& state);
  bool free(const Target& target, Elements count) const;
  void execute(State& state);
  void end(State& state);
  /// The receives of a connection that have a slot. One whose store is about to become free is put off.
  void post(std::uint32_t connection, bool put_off);
  bool post_straight(std::uint32_t connection, const PlannedReceive& planned, const Primitive& next);
  void post_again(bool put_off);
  std::string obstacle(const State& state) const;
  std::string text(std::uint32_t lane) const;

  const Schedule& schedule_;
  const Wiring& wiring_;
  AgentCount agent_count_;
  Reducer reducer_;
  std::vector<AgentMemory> memory_;
  std::uint32_t slots_;
  std::uint32_t processes_;
  MpiEndpoints endpoints_;
  SlotRoom in_room_;
  SlotRoom out_room_;
  std::vector<std::uint32_t> local_;  ///< of each lane of the wiring: its place in states_
  std::vector<State> states_;
  std::vector<ReceivePlan> plans_;  ///< of the agents of this process
  std::deque<std::uint32_t> ready_;
  std::vector<std::uint32_t> put_off_;   ///< connections with receives that wait for their store
  std::vector<std::uint32_t> hindered_;  ///< lanes that wait for sends to be done
  std::uint64_t unended_ = 0;            ///< lanes
  Move move_;
};

}  // namespace athanor
