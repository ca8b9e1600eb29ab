#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "models/network/packet/congestion/control.hpp"
#include "models/network/packet/packet.hpp"
#include "models/network/packet/ring.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

/// How hosts cut messages into packets and what they do about loss and congestion.
struct TransportSpec {
  /// What happens about packets that are missing.
  enum class Recovery : std::uint8_t {
    go_back_n,  ///< receivers take packets in order only; senders go back to the one that is missing
    selective,  ///< receivers take them in any order and acknowledge each; senders repeat what is missing
  };
  Bytes payload{4096};                  ///< most of one packet
  Bytes header{64};                     ///< of a data packet, on the wire
  Bytes reply{64};                      ///< an acknowledgement, on the wire
  Bytes window = Bytes::max();          ///< most payload sent and not acknowledged
  std::uint32_t acknowledge_every = 1;  ///< data packets; the last of a message always
  Time timeout{1'000'000'000};          ///< without progress: everything not acknowledged is sent again
  std::uint8_t data_service = 1;
  std::uint8_t reply_service = 0;
  Recovery recovery = Recovery::go_back_n;
  bool spray = false;                    ///< each packet goes by another of its flow's paths, which its host draws
  bool any_order = false;                ///< packets overtake each other, so that order tells nothing of loss
  Bytes initial_window = Bytes::zero();  ///< of controls that have windows; zero: ten packets, as TCP's
  std::shared_ptr<const ControlKind> control = congestion_control("none");
  /// A packet that an acknowledgement lets a host send leaves up to so much later, drawn evenly: hosts take their time,
  /// and without it flows into one queue without marks stay in step for ever, so that one takes all (phase effects:
  /// Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992). None: with controls that losses
  /// alone drive the time that a full packet takes on the host's link, else nothing.
  std::optional<Time> jitter = {};
};

/// The sending end of a flow: what is known of its progress. Packets are numbered from 0 over all its messages. What
/// every packet touches comes first, in one cache line.
struct alignas(64) Sender {
  struct Message {
    std::uint32_t end = 0;           ///< number of the packet after its last
    std::uint32_t last_payload = 0;  ///< bytes of payload in its last packet; those before it are full
    std::int64_t bytes = 0;
  };
  Time next_send;           ///< by pacing
  Time deadline;            ///< of the timeout
  std::uint32_t end = 0;    ///< packets handed over so far
  std::uint32_t next = 0;   ///< to send
  std::uint32_t fresh = 0;  ///< never sent
  std::uint32_t acknowledged = 0;
  std::uint32_t window = UINT32_MAX;    ///< packets
  std::uint32_t credit = 0;             ///< pull: packets that may be sent
  std::uint32_t outstanding = 0;        ///< packets that were sent and neither acknowledged nor given up
  std::uint32_t repeated = 0;           ///< packets that were sent not for the first time
  std::uint32_t injected_messages = 0;  ///< messages in `messages` whose packets have all been sent once
  std::uint32_t sending_message = 0;    ///< which of `messages` the packet `next` belongs to
  bool timer_pending = false;
  bool queued = false;          ///< stands in its port's list of flows that may send
  bool ending = false;          ///< stands among those of which Hosts::earliest_call() knows
  Ring<Message> messages;       ///< not wholly acknowledged, the oldest first
  Ring<std::uint32_t> repeats;  ///< selective: packets to be sent again
  Marks there;                  ///< selective: packets that were acknowledged
};

/// The first window of those that have one, in packets.
std::uint32_t initial_packets(const TransportSpec& spec);

}  // namespace athanor
