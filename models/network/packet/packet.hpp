#pragma once

#include <cstdint>

#include "sim/time.hpp"

namespace athanor {

enum class PacketKind : std::uint8_t {
  data,
  acknowledgement,    ///< everything before `number` has arrived in order
  negative,           ///< packet `number` is missing: go back to it
  congestion_notice,  ///< the sender shall slow down (RoCE's CNP)
  pull,               ///< the sender may send one packet more
};

/// One packet on its way. Held by value in links and queues, so that a hop touches no other memory.
struct Packet {
  std::uint32_t flow = 0;     ///< the connection that it belongs to, whichever way it goes
  std::uint32_t number = 0;   ///< of the packet within its flow; of an acknowledgement: see PacketKind
  Time sent;                  ///< when its data packet left the sender, echoed by acknowledgements
  std::uint32_t bytes = 0;    ///< on the wire, headers included
  std::uint32_t ingress = 0;  ///< within a switch: the link by which it came
  std::uint32_t hop = 0;      ///< into PacketTopology::hops: the link that it takes next
  PacketKind kind = PacketKind::data;
  std::uint8_t service = 0;  ///< class of service; 0 is served first
  bool marked = false;       ///< congestion experienced; in acknowledgements: an echo of it
  bool trimmed = false;      ///< its payload was cut off
};

}  // namespace athanor
