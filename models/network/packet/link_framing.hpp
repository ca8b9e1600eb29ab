#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/ratio.hpp"

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

}  // namespace athanor
