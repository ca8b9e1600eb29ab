#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "models/network/packet/marks.hpp"
#include "models/network/packet/packet.hpp"
#include "models/network/packet/ring.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

/// DCQCN as in Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, with its names.
struct DcqcnSpec {
  Ratio gain{1, 256};                      ///< g
  Time notice_interval{50'000'000};        ///< least between two congestion notices of a flow
  Time alpha_interval{55'000'000};         ///< without a notice: alpha falls
  Time increase_interval{55'000'000};      ///< T of the rate increase
  Bytes increase_bytes{10'000'000};        ///< B of the rate increase
  std::uint32_t recovery_rounds = 5;       ///< F
  Bandwidth additive_increase{5'000'000};  ///< 40 Mb/s
  Bandwidth hyper_increase{25'000'000};    ///< 200 Mb/s
  Bandwidth least_rate{5'000'000};
};

/// Swift as in Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM
/// 2020, with the parameters of its section 3.
struct SwiftSpec {
  Time target{25'000'000};    ///< round trip, of a flow with a large window
  Time scaling{100'000'000};  ///< most that small windows add to it
  Ratio increase{1, 1};       ///< packets per round trip
  Ratio decrease{4, 5};       ///< beta
  Ratio most_decrease{1, 2};  ///< of the window, at once
};

/// HPCC as in Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, with the parameters of its section 5.
struct HpccSpec {
  Ratio utilisation{95, 100};     ///< eta
  std::uint32_t most_stages = 5;  ///< maxStage: round trips of additive increase in a row
  Bytes increase{80};             ///< W_AI, with each change
  Time round_trip;                ///< T, one for the network; zero: the longest of its flows where nothing waits
};

/// How hosts cut messages into packets and what they do about loss and congestion.
struct TransportSpec {
  enum class Control : std::uint8_t {
    none,     ///< the window only
    dcqcn,    ///< rates that congestion notices cut
    newreno,  ///< windows that losses halve
    cubic,    ///< windows that losses cut, and that grow with the cube of time
    dctcp,    ///< windows that marks cut
    swift,    ///< windows that delay cuts
    hpcc,     ///< windows that follow what switches write into packets
    pull,     ///< receivers ask for each packet beyond the first window, at the rate of their link
  };
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
  Control control = Control::none;
  /// A packet that an acknowledgement lets a host send leaves up to so much later, drawn evenly: hosts take their time,
  /// and without it flows into one queue without marks stay in step for ever, so that one takes all (phase effects:
  /// Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992). None: with controls that losses
  /// alone drive the time that a full packet takes on the host's link, else nothing.
  std::optional<Time> jitter = {};
  DcqcnSpec dcqcn;
  SwiftSpec swift;
  HpccSpec hpcc;
};

/// The sending end of a flow: what is known of its progress. Packets are numbered from 0 over all its messages.
struct Sender {
  struct Message {
    std::uint32_t end = 0;           ///< number of the packet after its last
    std::uint32_t last_payload = 0;  ///< bytes of payload in its last packet; those before it are full
    std::int64_t bytes = 0;
  };
  Ring<Message> messages;                ///< not wholly acknowledged, the oldest first
  std::uint32_t delivered_messages = 0;  ///< of those, delivered at the receiver
  std::uint32_t injected_messages = 0;   ///< of those, sent once wholly
  std::uint32_t sending_message = 0;     ///< of those, the one that `next` belongs to
  std::uint32_t end = 0;                 ///< packets handed over so far
  std::uint32_t next = 0;                ///< to send
  std::uint32_t fresh = 0;               ///< never sent
  std::uint32_t acknowledged = 0;
  std::uint32_t window = UINT32_MAX;  ///< packets
  std::uint32_t credit = 0;           ///< pull: packets that may be sent
  std::uint32_t outstanding = 0;      ///< packets that were sent and neither acknowledged nor given up
  Ring<std::uint32_t> repeats;        ///< selective: packets to be sent again
  Marks there;                        ///< selective: packets that were acknowledged
  Time next_send;                     ///< by pacing
  Time deadline;                      ///< of the timeout
  bool timer_pending = false;
  bool queued = false;  ///< stands in its port's list of flows that may send
};

/// What a flow does about congestion. One object for all flows of a network.
class CongestionControl {
 public:
  struct Acknowledgement {
    std::uint32_t packets = 0;        ///< that it acknowledges for the first time; at least one
    std::uint32_t first_missing = 0;  ///< all packets before this one are there
    std::uint32_t sent = 0;           ///< packets of the flow that have been sent so far
    bool marked = false;              ///< one of them met a queue that marks
    Time round_trip;                  ///< of the packet that it answers
    Time now;
    std::uint32_t packet = 0;  ///< the one that it answers
  };
  /// Where a flow stands when a packet turns out to be lost.
  struct Progress {
    std::uint32_t packet = 0;       ///< the one that is lost
    std::uint32_t sent = 0;         ///< packets of the flow that have been sent so far
    std::uint32_t outstanding = 0;  ///< of those, under way
    Time now;
  };

  virtual ~CongestionControl() = default;
  /// Packets that may be outstanding.
  virtual std::uint32_t window(std::uint32_t) const { return UINT32_MAX; }
  /// A data packet of so many bytes on the wire leaves at `start`. Returns when the next one may.
  virtual Time paced(std::uint32_t, std::uint32_t, Time start) { return start; }
  virtual void congestion_notice(std::uint32_t, Time) {}
  virtual void acknowledged(std::uint32_t, const Acknowledgement&) {}
  virtual void lost(std::uint32_t, const Progress&) {}
  virtual void timed_out(std::uint32_t, const Progress&) {}
};

/// The first window of those that have one, in packets.
std::uint32_t initial_packets(const TransportSpec& spec);

class PacketLinks;

/// `line_rates`: of the first link of each flow. Borrows the links, whose switches may begin to write telemetry.
std::unique_ptr<CongestionControl> make_congestion_control(const TransportSpec& spec,
                                                           const std::vector<Bandwidth>& line_rates,
                                                           PacketLinks& links);

}  // namespace athanor
