#include <algorithm>

#include "models/network/packet/congestion/entry.hpp"
#include "models/network/packet/congestion/window_control.hpp"

namespace athanor {

namespace {

/// DCTCP (RFC 8257): NewReno that cuts its window once a round trip by half the share of packets that came marked, of
/// which it keeps a moving average.
class Dctcp final : public WindowControl {
 public:
  explicit Dctcp(const ControlSite& site) : WindowControl(site), shares_(site.line_rates.size()) {}
  void acknowledged(ConnectionId flow, const Acknowledgement& what) override;
  void skip(ConnectionId flow, Time by, std::uint32_t packets) override;

 private:
  struct Share {
    double alpha = 1;
    std::uint32_t packets = 0;  ///< acknowledged since the round began
    std::uint32_t marked = 0;
    std::uint32_t round_end = 0;  ///< the round ends when this packet is acknowledged
  };
  IdVector<ConnectionId, Share> shares_;
};

void Dctcp::acknowledged(ConnectionId flow, const Acknowledgement& what) {
  constexpr double kGain = 1.0 / 16;
  Share& share = shares_[flow];
  Flow& own = of(flow);
  share.packets += what.packets;
  share.marked += what.marked ? what.packets : 0;
  if (what.marked) { own.threshold = std::min(own.threshold, own.window); }  // the end of slow start
  WindowControl::acknowledged(flow, what);
  if (what.first_missing < share.round_end) { return; }
  const double fraction = static_cast<double>(share.marked) / std::max(1U, share.packets);
  share.alpha = (1 - kGain) * share.alpha + kGain * fraction;
  if (share.marked > 0) { own.window = own.threshold = std::max(kLeastThreshold, own.window * (1 - share.alpha / 2)); }
  share.packets = share.marked = 0;
  share.round_end = what.sent;
}

void Dctcp::skip(ConnectionId flow, Time by, std::uint32_t packets) {
  WindowControl::skip(flow, by, packets);
  shares_[flow].round_end += packets;
}

}  // namespace

struct DctcpControl : ControlKind {
  static ControlWords description() {
    return {.name = "dctcp", .meaning = "windows that marks cut", .needs_marks = true, .initial_window = true};
  }
  std::unique_ptr<CongestionControl> make(const ControlSite& site) const override {
    return std::make_unique<Dctcp>(site);
  }
};

template ControlEntry control_entry_of<DctcpControl>();

}  // namespace athanor
