#pragma once

#include <vector>

#include "models/network/packet/transport.hpp"

namespace athanor {

/// What the windows of TCP have in common: slow start up to a threshold, one reduction for all packets that were lost
/// from one window, and a window of one packet after a timeout (RFC 5681, RFC 6582). Windows count packets.
class WindowControl : public CongestionControl {
 public:
  WindowControl(double initial_window, std::size_t flows);

  std::uint32_t window(std::uint32_t flow) const override;
  void acknowledged(std::uint32_t flow, const Acknowledgement& what) override;
  void lost(std::uint32_t flow, const Progress& progress) override;
  void timed_out(std::uint32_t flow, const Progress& progress) override;

 protected:
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
  const Flow& of(std::uint32_t flow) const { return flows_[flow]; }

 private:
  std::vector<Flow> flows_;
};

/// TCP NewReno: a packet more per round trip, half the window after a loss (RFC 5681, RFC 6582).
class NewReno final : public WindowControl {
 public:
  using WindowControl::WindowControl;
};

/// TCP CUBIC (RFC 9438): the window is a cubic function of the time since the last loss, flat around the window at
/// which the loss came, and never below what Reno would have.
class Cubic final : public WindowControl {
 public:
  Cubic(double initial_window, std::size_t flows) : WindowControl(initial_window, flows), epochs_(flows) {}
  void timed_out(std::uint32_t flow, const Progress& progress) override;

 private:
  struct Epoch {
    bool begun = false;
    Time begin;
    double most = 0;        ///< W_max
    double friendly = 0;    ///< W_est, that of Reno
    double inflection = 0;  ///< K, in seconds
  };
  void grow(std::uint32_t flow, const Acknowledgement& what) override;
  double reduced(std::uint32_t flow, const Progress& progress) override;
  void begin(Epoch& epoch, double window, Time now) const;

  std::vector<Epoch> epochs_;
};

/// DCTCP (RFC 8257): NewReno that cuts its window once a round trip by half the share of packets that came marked, of
/// which it keeps a moving average.
class Dctcp final : public WindowControl {
 public:
  Dctcp(double initial_window, std::size_t flows) : WindowControl(initial_window, flows), shares_(flows) {}
  void acknowledged(std::uint32_t flow, const Acknowledgement& what) override;

 private:
  struct Share {
    double alpha = 1;
    std::uint32_t packets = 0;  ///< acknowledged since the round began
    std::uint32_t marked = 0;
    std::uint32_t round_end = 0;  ///< the round ends when this packet is acknowledged
  };
  std::vector<Share> shares_;
};

/// Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020):
/// the window grows by `increase` packets a round trip while the round trip is below its target, and falls by how far
/// it is above, at most once a round trip. Windows below one packet pace.
class Swift final : public CongestionControl {
 public:
  Swift(const SwiftSpec& spec, double initial_window, std::size_t flows);

  std::uint32_t window(std::uint32_t flow) const override;
  Time paced(std::uint32_t flow, std::uint32_t bytes, Time start) override;
  void acknowledged(std::uint32_t flow, const Acknowledgement& what) override;
  void lost(std::uint32_t flow, const Progress& progress) override;
  void timed_out(std::uint32_t flow, const Progress& progress) override;

 private:
  struct Flow {
    double window = 1;
    Time round_trip;
    Time last_decrease;
  };
  Time target(double window) const;
  void cut(Flow& flow, double factor, Time now) const;

  SwiftSpec spec_;
  std::vector<Flow> flows_;
};

}  // namespace athanor
