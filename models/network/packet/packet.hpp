#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/network/ids.hpp"
#include "sim/ratio.hpp"
#include "sim/time.hpp"

namespace athanor {

/// How a link cuts what it carries into packets of its own: PCIe into TLPs, NVLink into packets of flits. Network links
/// carry packets whole, with the headers that their transport gave them.
struct LinkFraming {
  std::uint16_t unit = 0;       ///< most payload of one of its packets, a multiple of `granule`; 0: it cuts nothing
  std::uint16_t overhead = 0;   ///< header, sequence number and check of each
  std::uint16_t granule = 1;    ///< payload is filled up to a multiple of this
  std::uint16_t left_away = 0;  ///< headers of the transport, which do not travel here: the NIC puts them on

  /// Bytes on the wire for a packet of so many bytes, headers of the transport included. A packet without payload takes
  /// one unit.
  constexpr std::uint32_t on_wire(std::uint32_t bytes) const {
    if (unit == 0) { return bytes; }
    const std::uint32_t payload = bytes > left_away ? bytes - left_away : 0;
    const std::uint32_t units = std::max(1U, (payload + unit - 1) / unit);
    return (payload + granule - 1) / granule * granule + units * overhead;
  }
  /// Bytes on the wire per byte of payload where all units are full.
  constexpr Ratio expansion() const { return unit == 0 ? Ratio{1, 1} : Ratio{unit + overhead, unit}; }
};

/// Memory writes of PCIe 3 to 5, in TLPs of 256 bytes: a framing token of 4 bytes that holds the sequence number, a
/// header of 16 with a 64-bit address, an LCRC of 4; payload in double words. PCIe 1 and 2 take as many (2 of framing,
/// 2 of sequence number). PCI Express Base Specification 3.0, sections 2.2 and 4.2; Neugebauer et al., "Understanding
/// PCIe performance for end host networking", SIGCOMM 2018, section 3.
constexpr LinkFraming kPcieFraming{256, 24, 4, 0};

/// NVLink: a header flit of 16 bytes and up to 16 flits of payload (Foley and Danskin, "Ultra-Performance Pascal GPU
/// and NVLink Interconnect", IEEE Micro 37(2), 2017).
constexpr LinkFraming kNvlinkFraming{256, 16, 16, 0};

enum class PacketKind : std::uint8_t {
  data,
  acknowledgement,    ///< everything before `number` has arrived in order
  negative,           ///< packet `number` is missing: go back to it
  congestion_notice,  ///< the sender shall slow down (RoCE's CNP)
  pull,               ///< the sender may send one packet more
};

/// One packet on its way. Held by value in links and queues, so that a hop touches no other memory.
struct Packet {
  ConnectionId flow;         ///< the connection that it belongs to, whichever way it goes
  std::uint32_t number = 0;  ///< of the packet within its flow; of an acknowledgement: see PacketKind
  Time sent;                 ///< when its data packet left the sender, echoed by acknowledgements
  std::uint32_t bytes = 0;   ///< on the wire, headers included
  LinkIndex ingress;         ///< within a switch: the link by which it came
  std::uint32_t hop = 0;     ///< into PacketTopology::hops: the link that it takes next
  PacketKind kind = PacketKind::data;
  std::uint8_t service = 0;  ///< class of service; 0 is served first
  bool marked = false;       ///< congestion experienced; in acknowledgements: an echo of it
  bool trimmed = false;      ///< its payload was cut off
};

/// Which packets of a flow are there, where they may come in any order: all below first(), and some beyond.
class Marks {
 public:
  /// The lowest that is not there.
  std::uint32_t first() const { return first_; }
  bool has(std::uint32_t number) const {
    return number < first_ || (place(number) < beyond_.size() && beyond_[place(number)]);
  }
  /// Returns false where it was there already.
  bool add(std::uint32_t number) {
    if (has(number)) { return false; }
    if (place(number) >= beyond_.size()) { beyond_.resize(place(number) + 1); }
    beyond_[place(number)] = true;
    for (; begin_ < beyond_.size() && beyond_[begin_]; ++begin_) { ++first_; }
    if (begin_ == beyond_.size() || begin_ > kMostWaste) {
      beyond_.erase(beyond_.begin(), beyond_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
    }
    return true;
  }
  /// All numbers rise by so many; those that come in between are there.
  void skip(std::uint32_t packets) { first_ += packets; }

 private:
  static constexpr std::size_t kMostWaste = 4096;  ///< bits kept of what is below first()
  std::size_t place(std::uint32_t number) const { return begin_ + (number - first_); }

  std::uint32_t first_ = 0;
  std::size_t begin_ = 0;     ///< where first_ is in `beyond_`
  std::vector<bool> beyond_;  ///< empty where all came in order
};

}  // namespace athanor
