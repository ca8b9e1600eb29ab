#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/execution/apply.hpp"
#include "algorithms/execution/references.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Called with a lane that may have become able to go on.
using WakeLane = std::function<void(std::uint32_t lane)>;

/// How the messages of an execution travel.
struct MessageRoom {
  std::uint32_t slots = 1;  ///< per connection
  bool may_refer = true;    ///< to cells of the sender, where References says that this is safe
};

/// All lanes of a schedule as state machines over real memory, and the slots of their connections. A lane is advanced
/// by one thread at a time, different lanes by different threads.
///
/// What threads share are three counters, each written by one lane only: messages sent and received on a connection
/// and primitives ended by a lane. They are stored with release after the memory that they speak of was written or
/// read, and loaded with acquire before it is read or overwritten.
class Lanes {
 public:
  /// Requires that schedule and wiring outlive this, and primitives that check_primitives has passed.
  Lanes(const Schedule& schedule, const Wiring& wiring, const Reducer& reducer, std::vector<AgentMemory> memory,
        const MessageRoom& room);

  std::uint32_t count() const { return static_cast<std::uint32_t>(lanes_.size()); }
  AgentId agent(std::uint32_t lane) const { return wiring_.lanes[lane].agent; }

  /// Back to the beginning. Requires that no lane is being advanced.
  void reset();
  /// As many primitives of the lane as can run, until `stop`. True where the lane has ended. Throws SimulationError
  /// where a message has another length than its receive.
  bool advance(std::uint32_t lane, const WakeLane& wake, const std::atomic<bool>& stop);
  bool ended(std::uint32_t lane) const { return lanes_[lane].index == lanes_[lane].total; }
  /// "rank 3, lane 0, loop 1, step 5 waits for message 2 of rank 2, lane 0". Requires that no lane is being advanced.
  std::string describe(std::uint32_t lane) const;

 private:
  /// A line of the cache for each: neighbours are written by lanes of different workers.
  struct alignas(64) Message {
    const std::byte* data = nullptr;
    Elements count;
    bool lasting = false;  ///< does the data stay as it is until the schedule has ended?
  };
  /// A line of the cache for each end, so that its counter is not disturbed by the other one's.
  struct Connection {
    alignas(64) std::atomic<std::uint64_t> sent{0};
    alignas(64) std::atomic<std::uint64_t> received{0};
    alignas(64) std::byte* room = nullptr;
    std::size_t slot_bytes = 0;
  };
  struct Wake {
    std::uint64_t ended = 0;
    std::uint32_t lane = 0;
  };
  struct alignas(64) State {
    Primitive primitive;
    std::uint64_t index = 0;
    std::uint64_t total = 0;
    std::uint64_t loop = 0;
    std::uint32_t step = 0;
    bool loaded = false;
    bool received_lasts = false;  ///< the message received last
    std::size_t woken = 0;        ///< of wakes
    std::vector<Wake> wakes;      ///< lanes that wait for this one, by how far it must have come
    std::vector<Source> sources;
    std::vector<Target> targets;
    std::vector<Message> outgoing;
    alignas(64) std::atomic<std::uint64_t> ended{0};
  };

  void make_room();
  void find_wakes();
  void load(std::uint32_t lane);
  bool ready(std::uint32_t lane) const;
  void execute(std::uint32_t lane);
  void receive(std::uint32_t lane);
  void send(std::uint32_t lane);
  std::byte* free_slot(std::uint32_t connection) const;
  void publish(std::uint32_t lane, const WakeLane& wake);
  void end(std::uint32_t lane, const WakeLane& wake);
  std::string obstacle(std::uint32_t lane) const;
  std::uint32_t outgoing(std::uint32_t lane, std::uint32_t port) const {
    return wiring_.outgoing[wiring_.lanes[lane].first_out + port];
  }
  Message& slot(std::uint32_t connection, std::uint64_t message) {
    return messages_[connection * std::size_t{room_.slots} + message % room_.slots];
  }

  const Schedule& schedule_;
  const Wiring& wiring_;
  AgentCount agent_count_;
  Reducer reducer_;
  std::vector<AgentMemory> memory_;
  MessageRoom room_;
  References references_;
  std::vector<State> lanes_;
  std::vector<Connection> connections_;
  std::vector<Message> messages_;  ///< in the slots of each connection
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace athanor
