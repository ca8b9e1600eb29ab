#pragma once

#include <vector>

#include "models/network/packet/packet_links.hpp"
#include "models/network/packet/telemetry.hpp"
#include "models/network/packet/transport.hpp"

namespace athanor {

/// HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1, with its names): windows
/// follow how much of its bandwidth-delay product each link on the path holds, as switches write it into packets.
/// Windows are in bytes on the wire, and packets are paced at a window per base round trip.
class Hpcc final : public CongestionControl {
 public:
  /// Lets the switches of `links` write telemetry, from now on.
  Hpcc(const TransportSpec& transport, PacketLinks& links);

  std::uint32_t window(std::uint32_t flow) const override;
  Time paced(std::uint32_t flow, std::uint32_t bytes, Time start) override;
  void acknowledged(std::uint32_t flow, const Acknowledgement& what) override;

 private:
  struct Flow {
    double base = 0;              ///< T, in picoseconds
    double most = 0;              ///< the window that fills the first link for T
    double window = 0;            ///< W
    double reference = 0;         ///< W^c
    double utilisation = 1;       ///< U
    std::uint32_t stage = 0;      ///< incStage
    std::uint32_t update = 0;     ///< the reference changes with the acknowledgement of this packet or a later one
    std::vector<HopRecord> last;  ///< L
  };
  void measure(Flow& flow, std::span<const HopRecord> records) const;
  void adjust(Flow& flow, bool update) const;

  HpccSpec spec_;
  double packet_;  ///< bytes of a full one
  PacketLinks& links_;
  std::vector<Flow> flows_;
};

/// What a full packet and its acknowledgement take where nothing waits.
Time base_round_trip(PacketLinks& links, std::uint32_t flow, const TransportSpec& transport);

}  // namespace athanor
