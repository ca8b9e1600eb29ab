#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "algorithms/schedule/schedule.hpp"
#include "sim/units.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// When a sender may go on: its operands may be overwritten and the next message may follow.
enum class SendEnd : std::uint8_t {
  copied,     ///< at once: the bytes are in a buffer of the transport
  paced,      ///< when a sender at its own rate is done, though links be slower: they are behind by what slots hold
  injected,   ///< when the last byte has left
  delivered,  ///< when the last byte has arrived
};

/// What one connection costs beyond the fabric that it crosses.
struct ConnectionCost {
  Time latency;                      ///< of software, per message; pipelined, added to the path's own latency
  Bandwidth cap = Bandwidth::max();  ///< rate of the channel (an NCCL channel's thread block), on the wire
  Bytes grain;                       ///< a receiver may start on the first grain; 0: on the whole message
  SendEnd end = SendEnd::injected;
  Bandwidth injection_rate = Bandwidth::max();  ///< payload rate of the sender, where `end` is paced; max: done at once
  std::int64_t wire_numerator = 1;              ///< bytes on the wire per byte of payload: numerator / denominator >= 1
  std::int64_t wire_denominator = 1;
  Bytes eager = Bytes::max();  ///< on the wire: messages beyond it begin to move one handshake later
  Time handshake{};
  bool operator==(const ConnectionCost&) const = default;
};

/// What it costs an agent to run one primitive.
struct AgentCost {
  Time overhead;                             ///< of every primitive that has a port
  Bandwidth reduce_rate = Bandwidth::max();  ///< bytes of each input after the first; max: free
  Bandwidth copy_rate = Bandwidth::max();    ///< of copies within the agent (no port); max: free
  bool overlapped = false;                   ///< reducing goes on while sending; else it precedes sending
  Bandwidth unpack_rate = Bandwidth::max();  ///< of what a primitive receives and does not pass on; max: free
  /// Where agents of several jobs differ in them: bytes of an element, and messages that each connection holds that it
  /// sends on. None: as the model says for all.
  std::optional<Bytes> element_size = std::nullopt;
  std::optional<std::uint32_t> slots = std::nullopt;
  bool operator==(const AgentCost&) const = default;
};

/// Prices a schedule on a cluster. Pure: equal arguments give equal costs, so that equal agents stay equal.
class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual AgentCost agent(AgentId agent) const = 0;
  /// `path`: the links from the sender to the receiver, none when they are one device.
  virtual ConnectionCost connection(AgentId from, AgentId to, std::span<const LinkId> path) const = 0;
  virtual Bytes element_size() const = 0;
  /// Messages that a connection holds between the start of their sending and the end of their use.
  virtual std::uint32_t slots() const = 0;
};

}  // namespace athanor
