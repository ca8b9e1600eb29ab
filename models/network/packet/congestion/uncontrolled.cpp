#include "models/network/packet/congestion/entry.hpp"

namespace athanor {

/// Nothing but the window of the transport.
struct NoControl : ControlKind {
  static ControlWords description() { return {.name = "none", .meaning = "the window of the transport only"}; }
  std::unique_ptr<CongestionControl> make(const ControlSite&) const override {
    return std::make_unique<CongestionControl>();
  }
};

/// As NDP and EQDS do: what senders may send is the receivers' affair (Hosts::pull).
struct PullControl : NoControl {
  static ControlWords description() {
    return {.name = "pull",
            .meaning = "receivers ask for each packet beyond the first window, at the rate of their link",
            .initial_window = true,
            .receivers_ask = true,
            .selective_only = true};
  }
};

template ControlEntry control_entry_of<NoControl>();
template ControlEntry control_entry_of<PullControl>();

}  // namespace athanor
