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

  std::uint32_t window(std::uint32_t flow) const override { return whole_packets(flows_[flow].window); }
  void acknowledged(std::uint32_t flow, const Acknowledgement& what) override;
  void lost(std::uint32_t flow, const Progress& progress) override;
  void timed_out(std::uint32_t flow, const Progress& progress) override;

 protected:
  static constexpr double kLeastThreshold = 2;

  struct Flow {
    double window = 1;
    double threshold = 1e18;     ///< slow start below it
    std::uint32_t recovery = 0;  ///< no second reduction for packets before this one
  };
  /// Grows the window of a flow that is not in slow start.
  virtual void grow(std::uint32_t flow, const Acknowledgement& what);
  /// The window after a loss.
  virtual double reduced(std::uint32_t flow, const Progress& progress);
  Flow& of(std::uint32_t flow) { return flows_[flow]; }

 private:
  std::vector<Flow> flows_;
};

}  // namespace athanor
