#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/execution/references.hpp"
#include "algorithms/proof/memory_map.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "models/shared_memory/caches.hpp"

namespace athanor {

/// What the primitives of a schedule cost on processors that share memory. Follows every message to where its bytes
/// are: in the sender's cells, in those of somebody before it, or copied into a slot, just as the threads executor
/// does.
class PrimitiveWork {
 public:
  /// Borrows schedule and costs. Agent a is carried out by processor a % processors. `slots`: of a connection.
  /// Throws SimulationError("wiring") where the schedule's ends do not fit together.
  PrimitiveWork(const Schedule& schedule, const ThreadCosts& costs, std::uint32_t processors, Bytes element_size,
                std::uint32_t slots);

  std::uint32_t processor(std::uint32_t lane) const { return wiring_.lanes[lane].agent.value % processors_; }
  std::uint32_t lanes() const { return static_cast<std::uint32_t>(wiring_.lanes.size()); }

  /// Of the primitive that a lane, numbered by agent and lane, carries out as its `index`-th; it begins now. Requires
  /// that primitives are asked for in the order in which they begin.
  Time of(std::uint32_t lane, std::uint64_t index);

  /// The schedule begins once more; caches stay as they are.
  void begin_again();

 private:
  struct Message {
    std::int64_t first = 0;  ///< address
    bool lasting = false;    ///< does it stay as it is until the schedule has ended?
  };
  struct Connection {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::int64_t room = 0;  ///< address of its first slot
    std::int64_t slot_bytes = 0;
  };

  void lay_out_memory();
  Time ports(std::uint32_t lane, const Primitive& primitive) const;
  Time port(std::uint32_t lane, std::uint32_t other) const;
  void receive(std::uint32_t lane, const Primitive& primitive);
  void send(std::uint32_t lane, std::uint64_t index, const Primitive& primitive);
  void add(AgentId agent, const Cells& cells, Elements count, bool writes);
  void add(std::int64_t first, std::int64_t bytes, bool writes);
  Message& slot(std::uint32_t connection, std::uint64_t message) {
    return messages_[connection * std::size_t{slots_} + message % slots_];
  }
  std::int64_t address(AgentId agent, const Cells& cells) const;

  const Schedule& schedule_;
  const ThreadCosts& costs_;
  std::uint32_t processors_;
  std::int64_t element_size_;
  std::uint32_t slots_;
  Wiring wiring_;
  References references_;
  Caches caches_;
  std::vector<MemoryMap> maps_;      ///< of each agent
  std::vector<std::int64_t> bases_;  ///< address of each agent's memory
  std::vector<Connection> connections_;
  std::vector<Message> messages_;  ///< in the slots of each connection
  std::vector<Access> accesses_;   ///< of the present primitive
  std::uint32_t sources_ = 0;      ///< of the present primitive
  std::uint32_t targets_ = 0;
  Message received_;  ///< the last one of the present primitive
};

}  // namespace athanor
