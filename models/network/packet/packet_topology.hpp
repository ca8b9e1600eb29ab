#pragma once

#include <cstdint>
#include <vector>

#include "models/network/ids.hpp"
#include "models/network/packet/packet.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Classes of service that ports tell apart.
constexpr std::uint32_t kServices = 4;

/// When a queue marks packets (ECN), as RED does: never below `from`, always from `to` on, and between them with a
/// probability that rises linearly to `most`. Queue lengths are those that a packet finds on arrival.
struct MarkingSpec {
  Bytes from = Bytes::max();
  Bytes to = Bytes::max();
  Ratio most{1, 1};
};

/// What keeps a queue from overflowing.
enum class FlowControl : std::uint8_t {
  none,     ///< what does not fit is dropped
  pfc,      ///< IEEE 802.1Qbb: the ingress that holds too much pauses the port that feeds it
  credits,  ///< InfiniBand: a port sends no more than has room in the buffer that its class has at the far end
};

/// What a switch does with packets that may take many paths.
enum class LoadBalancing : std::uint8_t {
  none,      ///< they keep to the path that their host chose
  adaptive,  ///< each takes the port of the shortest queue, of those on which the rest of a path begins
  flowlets,  ///< a flow that was silent for long enough takes a path at random (LetFlow, Vanini et al., NSDI 2017)
};

/// What a switch does with packets.
struct SwitchSpec {
  Bytes buffer = Bytes::max();  ///< shared by all ports; what finds no room is dropped
  Bytes queue = Bytes::max();   ///< most in one port's queue of one class, if it is not under flow control
  bool cut_through = false;     ///< a packet may leave while it still arrives
  bool trims = false;           ///< cuts the payload off what finds no room in a queue, instead of dropping it
  FlowControl flow_control = FlowControl::none;
  Bytes pause_above = Bytes::max();  ///< of one ingress and class; the room above it is headroom
  Bytes resume_below = Bytes::zero();
  Bytes lane_buffer = Bytes::max();  ///< credits: of each ingress and class (virtual lane), in whole blocks of 64 bytes
  LoadBalancing load_balancing = LoadBalancing::none;
  Time flowlet_gap;  ///< flowlets: of silence
  MarkingSpec marking;
};

/// What packets travel over: devices joined by links, each link with a queue at its source. Every link has a reverse
/// one. Devices are switches or hosts; hosts send, receive and acknowledge, and pass on what is not for them.
struct PacketTopology {
  struct Device {
    bool host = false;
    std::uint32_t spec = 0;  ///< of a switch, into `switches`
  };
  struct Link {
    DeviceIndex source;
    DeviceIndex target;
    LinkIndex reverse;
    Bandwidth rate;  ///< of bytes on the wire, those of `framing` included
    Time latency;    ///< at least kLeastLatency
    LinkFraming framing = {};
  };
  /// From host to host, and back for what answers. Without hops the two ends are one device.
  struct Flow {
    std::uint32_t first_hop = 0;  ///< into `hops`
    std::uint32_t hops = 0;
    std::uint32_t first_hop_back = 0;
    std::uint32_t hops_back = 0;
    std::uint32_t paths = 1;           ///< forth; `hops` of each, one after the other, those that begin alike together
    Bandwidth cap = Bandwidth::max();  ///< of payload, that the sender keeps to
    Time software;                     ///< added after the last packet of a message has arrived
    Bytes grain;                       ///< as in FlowGraph
  };
  static constexpr Time kLeastLatency{1'000};

  IdVector<DeviceIndex, Device> devices;
  std::vector<SwitchSpec> switches;
  IdVector<LinkIndex, Link> links;
  IdVector<ConnectionId, Flow> flows;
  std::vector<LinkIndex> hops;
};

}  // namespace athanor
