#pragma once

#include <cstdint>
#include <memory>

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

/// How hosts cut messages into packets and what they do about loss and congestion.
struct TransportSpec {
  enum class Control : std::uint8_t {
    none,   ///< the window only
    dcqcn,  ///< rates that congestion notices cut
  };
  Bytes payload{4096};                  ///< most of one packet
  Bytes header{64};                     ///< of a data packet, on the wire
  Bytes reply{64};                      ///< an acknowledgement, on the wire
  Bytes window = Bytes::max();          ///< most payload sent and not acknowledged
  std::uint32_t acknowledge_every = 1;  ///< data packets; the last of a message always
  Time timeout{1'000'000'000};          ///< without progress: everything not acknowledged is sent again
  std::uint8_t data_service = 1;
  std::uint8_t reply_service = 0;
  Control control = Control::none;
  DcqcnSpec dcqcn;
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
  Time next_send;                     ///< by pacing
  Time deadline;                      ///< of the timeout
  bool timer_pending = false;
  bool queued = false;  ///< stands in its port's list of flows that may send
};

/// What a flow does about congestion. One object for all flows of a network.
class CongestionControl {
 public:
  virtual ~CongestionControl() = default;
  /// A data packet of so many bytes on the wire leaves at `start`. Returns when the next one may.
  virtual Time paced(std::uint32_t flow, std::uint32_t bytes, Time start) = 0;
  virtual void congestion_notice(std::uint32_t flow, Time now) = 0;
};

/// `line_rates`: of the first link of each flow.
std::unique_ptr<CongestionControl> make_congestion_control(const TransportSpec& spec,
                                                           const std::vector<Bandwidth>& line_rates);

}  // namespace athanor
