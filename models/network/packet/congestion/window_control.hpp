#pragma once

#include "models/network/packet/congestion/control.hpp"

namespace athanor {

constexpr double kMostWindow = 1e9;  ///< packets: what no flow ever has under way

/// Packets that may be outstanding in a window of so many, one at least.
std::uint32_t whole_packets(double window);

/// What the windows of TCP have in common: slow start up to a threshold, one reduction for all packets that were lost
/// from one window, and a window of one packet after a timeout (RFC 5681, RFC 6582). Windows count packets.
class WindowControl : public CongestionControl {
 public:
  explicit WindowControl(const ControlSite& site);

  std::uint32_t window(ConnectionId flow) const override { return whole_packets(flows_[flow].window); }
  void acknowledged(ConnectionId flow, const Acknowledgement& what) override;
  void lost(ConnectionId flow, const Progress& progress) override;
  void timed_out(ConnectionId flow, const Progress& progress) override;
  double level(ConnectionId flow) const override { return flows_[flow].window; }
  void skip(ConnectionId flow, Time /*by*/, std::uint32_t packets) override { flows_[flow].recovery += packets; }

 protected:
  static constexpr double kLeastThreshold = 2;

  struct Flow {
    double window = 1;
    double threshold = 1e18;     ///< slow start below it
    std::uint32_t recovery = 0;  ///< no second reduction for packets before this one
  };
  /// Grows the window of a flow that is not in slow start.
  virtual void grow(ConnectionId flow, const Acknowledgement& what);
  /// The window after a loss.
  virtual double reduced(ConnectionId flow, const Progress& progress);
  Flow& of(ConnectionId flow) { return flows_[flow]; }

 private:
  IdVector<ConnectionId, Flow> flows_;
};

}  // namespace athanor
