#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/proof/violation.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// One primitive as it is executed.
struct Execution {
  std::uint32_t lane = 0;   ///< in the wiring
  std::uint64_t index = 0;  ///< of the primitive in its lane, over all loops
  const Primitive& primitive;
  std::uint32_t first_received = 0;     ///< connection of the first receive; the others follow
  std::span<const std::uint32_t> sent;  ///< connections of the sends
};

/// Follows an execution. Messages arrive in the order in which they were sent on their connection.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_primitive(const Execution& execution) = 0;
};

/// Runs a schedule without time, each connection having a number of slots. A schedule is a bounded Kahn network: that
/// one interleaving ends, or does not, proves it of all. Requires a wiring without violation, and primitives that
/// check_primitives has passed.
class Replay {
 public:
  Replay(const Schedule& schedule, const Wiring& wiring, std::uint32_t slots);

  /// Requires that `observer` outlives run().
  void watch(Observer& observer) { observers_.push_back(&observer); }

  /// To the end, or to the first violation: a message of another count than its receive (matching), a wait for what
  /// never comes (matching) or a deadlock, which names a circle of lanes that wait for each other.
  std::optional<Violation> run();

 private:
  enum class Obstacle : std::uint8_t { none, wait, message, slot };
  struct Running {
    Primitive primitive;
    std::uint64_t ended = 0;
    std::uint64_t total = 0;
    std::uint64_t loop = 0;
    std::uint32_t step = 0;
    Obstacle obstacle = Obstacle::none;
    std::uint32_t obstructed = 0;  ///< the connection, or the lane that is waited for
    bool loaded = false;
    bool queued = false;
  };
  struct Connection {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  struct Message {
    Elements count;
    std::uint64_t index = 0;  ///< of the sending primitive
  };

  void enqueue(std::uint32_t lane);
  std::optional<Violation> advance(std::uint32_t lane);
  void load(std::uint32_t lane);
  Execution execution(std::uint32_t lane) const;
  bool ready(std::uint32_t lane, const Execution& next);
  std::optional<Violation> receive(const Execution& execution);
  void send(const Execution& execution);
  void end(std::uint32_t lane);
  std::optional<Violation> stuck() const;
  std::optional<Violation> unreceived() const;
  std::optional<Violation> hopeless(std::uint32_t lane) const;
  std::uint32_t obstructor(std::uint32_t lane) const;
  std::string obstacle_text(std::uint32_t lane) const;
  StepPlace place(std::uint32_t lane) const;
  std::string text(std::uint32_t lane) const;

  const Schedule& schedule_;
  const Wiring& wiring_;
  std::uint32_t slots_;
  AgentCount agent_count_;
  std::vector<Observer*> observers_;
  std::vector<Running> lanes_;
  std::vector<Connection> connections_;
  std::vector<Message> messages_;                    ///< `slots_` of each connection
  std::vector<std::vector<std::uint32_t>> waiters_;  ///< of each lane
  std::vector<std::uint32_t> queue_;
};

}  // namespace athanor
