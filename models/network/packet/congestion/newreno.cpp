#include <algorithm>

#include "models/network/packet/congestion/entry.hpp"
#include "models/network/packet/congestion/window_control.hpp"

namespace athanor {

std::uint32_t whole_packets(double window) { return static_cast<std::uint32_t>(std::clamp(window, 1.0, kMostWindow)); }

WindowControl::WindowControl(const ControlSite& site) : flows_(site.line_rates.size()) {
  for (Flow& flow : flows_) { flow.window = site.initial_window; }
}

void WindowControl::acknowledged(ConnectionId flow, const Acknowledgement& what) {
  Flow& own = of(flow);
  if (own.window < own.threshold) {
    own.window = std::min(own.window + what.packets, std::max(own.threshold, own.window));
  } else {
    grow(flow, what);
  }
  own.window = std::min(own.window, kMostWindow);
}

void WindowControl::grow(ConnectionId flow, const Acknowledgement& what) {
  of(flow).window += what.packets / of(flow).window;
}

double WindowControl::reduced(ConnectionId flow, const Progress& progress) {
  return std::min(of(flow).window, static_cast<double>(progress.outstanding)) / 2;
}

void WindowControl::lost(ConnectionId flow, const Progress& progress) {
  Flow& own = of(flow);
  if (progress.packet < own.recovery) { return; }
  own.recovery = progress.sent;
  own.window = own.threshold = std::max(kLeastThreshold, reduced(flow, progress));
}

void WindowControl::timed_out(ConnectionId flow, const Progress& progress) {
  Flow& own = of(flow);
  own.threshold = std::max(kLeastThreshold, reduced(flow, progress));
  own.window = 1;
  own.recovery = progress.sent;
}

/// TCP NewReno: a packet more per round trip, half the window after a loss (RFC 5681, RFC 6582).
struct NewRenoControl : ControlKind {
  static ControlWords description() {
    return {.name = "newreno", .meaning = "windows that losses halve", .by_losses = true, .initial_window = true};
  }
  std::unique_ptr<CongestionControl> make(const ControlSite& site) const override {
    return std::make_unique<WindowControl>(site);
  }
};

template ControlEntry control_entry_of<NewRenoControl>();

}  // namespace athanor
