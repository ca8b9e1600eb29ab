#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sim/ids.hpp"
#include "sim/quantity.hpp"

namespace athanor {

struct ElementCount {
  [[noreturn]] static void overflow();
};
/// A number of elements of the reduced type (not bytes).
using Elements = Quantity<ElementCount>;

using AgentId = Id<struct AgentTag>;      ///< a rank (0 .. ranks-1) or an in-network engine (ranks .. agents-1)
using LaneId = Id<struct LaneTag>;        ///< within its agent
using PortId = Id<struct PortTag>;        ///< within its lane; in-ports and out-ports are counted apart
using ProgramId = Id<struct ProgramTag>;  ///< lanes of one program do the same up to addresses and peers

enum class Buffer : std::uint8_t { input, output, scratch };

/// A range of elements of one buffer. Element k is first + k / run * stride + k % run; run 0: contiguous.
struct Cells {
  Buffer buffer = Buffer::input;
  Elements first;
  Elements run;
  Elements stride;

  Elements at(Elements k) const { return run == Elements::zero() ? first + k : first + stride * (k / run) + k % run; }
  bool operator==(const Cells&) const = default;
};

/// A contiguous range of a lane's in-ports or out-ports.
struct Ports {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const Ports&) const = default;
};

/// Until that lane of the same agent has ended so many primitives, counted over all loops.
struct Wait {
  LaneId lane;
  std::uint64_t ended = 0;
};

/// What one lane does in one step, fused and atomic: value = operand 0 (+) operand 1 (+) received in port order;
/// the value is stored and goes to every send. It starts when its wait holds, every receive has its message and
/// every send a free slot. At its end it frees the slots that it received from and fills those that it sent to.
struct Primitive {
  Elements count;  ///< elements in each operand, message and the store; 0 is legal and still synchronises
  std::array<std::optional<Cells>, 2> operands;
  Ports receives;
  Ports sends;
  bool finish = false;  ///< the post-operation (average: division by the number of ranks) before store and send
  std::optional<Cells> store;
  std::optional<Wait> wait;  ///< more waits: preceding empty primitives

  /// Inputs of the reduction: a value with one input is copied, not reduced.
  std::uint32_t inputs() const {
    return receives.count + (operands[0].has_value() ? 1U : 0U) + (operands[1].has_value() ? 1U : 0U);
  }
};

struct Endpoint {
  AgentId agent;
  LaneId lane;
  PortId port;
  bool operator==(const Endpoint&) const = default;
};

/// Steps of a loop, from `first` to before `end`, of which each is like the one `period` steps behind it.
struct StepRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  std::uint32_t period = 1;
};

/// An ordered stream of primitives of one agent: `loops` times `steps` of them, then it has ended.
struct Lane {
  std::uint32_t steps = 0;
  std::uint64_t loops = 0;
  std::uint32_t in_ports = 0;
  std::uint32_t out_ports = 0;
  ProgramId program;
};

/// Elements that an agent's buffers hold. `in_place`: its input is the output from this element on.
struct Memory {
  Elements input;
  Elements output;
  Elements scratch;
  std::optional<std::int64_t> in_place;
};

struct AgentCount {
  std::uint32_t ranks = 0;
  std::uint32_t agents = 0;  ///< ranks and engines; models place the engines
};

/// A collective algorithm as data movement: who reduces, stores and sends what, in which order, without time.
/// Pure and immutable; a regular algorithm computes each answer in O(1) memory. Thread-safe.
///
/// Matching: the k-th send of an out-port meets the k-th receive of the in-port that it is joined to. No tags, no
/// receive-from-any: one run proves all interleavings (a bounded Kahn network).
class Schedule {
 public:
  virtual ~Schedule() = default;

  virtual AgentCount agent_count() const = 0;
  virtual std::uint32_t lanes(AgentId agent) const = 0;
  virtual Lane lane(AgentId agent, LaneId lane) const = 0;
  /// The channel of the layout that the lane is part of: models spread channels over the NICs of a node. An algorithm
  /// with one lane for each channel, or without channels, has the lane's own number.
  virtual std::uint32_t channel(AgentId agent, LaneId lane) const;
  virtual Memory memory(AgentId agent) const = 0;
  /// The in-port that an out-port is joined to, and the inverse.
  virtual Endpoint target(AgentId agent, LaneId lane, PortId out) const = 0;
  virtual Endpoint source(AgentId agent, LaneId lane, PortId in) const = 0;
  /// Requires loop < lane.loops and step < lane.steps. Loops 0 .. loops-2 are one loop moved by shift(); the last
  /// loop may be shorter. Lanes of equal program have equal loops, steps and ports and give equal primitives up to
  /// addresses and peers (and counts, where the payload is cut unevenly); a wait names a lane at the same distance
  /// from its own (lane ids are relative).
  virtual Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const = 0;
  /// Steps around this one whose primitives differ from those a period away in no more than addresses and `finish`, and
  /// wait for nothing; fewer than there are, or it alone, where that is not known in O(1).
  virtual StepRange alike(AgentId /*agent*/, LaneId /*lane*/, std::uint64_t /*loop*/, std::uint32_t step) const {
    return {step, step + 1};
  }
  /// No primitive with a port has a greater count.
  virtual Elements message_limit() const = 0;
  /// Loop l < loops-1 is loop 0 with the addresses in `buffer` moved by l * shift(buffer).
  virtual Elements shift(Buffer buffer) const = 0;
  /// The fewest slots a connection needs for the schedule to end.
  virtual std::uint32_t least_slots() const = 0;
};

}  // namespace athanor
