#include <algorithm>
#include <cmath>

#include "models/network/packet/congestion/entry.hpp"
#include "models/network/packet/congestion/window_control.hpp"

namespace athanor {

namespace {

// RFC 9438: C in packets per cubic second, and what of the window a loss leaves.
constexpr double kCubic = 0.4;
constexpr double kCubicLeft = 0.7;

/// TCP CUBIC (RFC 9438): the window is a cubic function of the time since the last loss, flat around the window at
/// which the loss came, and never below what Reno would have.
class Cubic final : public WindowControl {
 public:
  explicit Cubic(const ControlSite& site) : WindowControl(site), epochs_(site.line_rates.size()) {}
  void timed_out(ConnectionId flow, const Progress& progress) override;
  void skip(ConnectionId flow, Time by, std::uint32_t packets) override;

 private:
  struct Epoch {
    bool begun = false;
    Time begin;
    double most = 0;        ///< W_max
    double friendly = 0;    ///< W_est, that of Reno
    double inflection = 0;  ///< K, in seconds
  };
  void grow(ConnectionId flow, const Acknowledgement& what) override;
  double reduced(ConnectionId flow, const Progress& progress) override;
  void begin(Epoch& epoch, double window, Time now) const;

  IdVector<ConnectionId, Epoch> epochs_;
};

void Cubic::begin(Epoch& epoch, double window, Time now) const {
  epoch.begun = true;
  epoch.begin = now;
  epoch.friendly = window;
  epoch.most = std::max(epoch.most, window);
  epoch.inflection = std::cbrt((epoch.most - window) / kCubic);
}

void Cubic::grow(ConnectionId flow, const Acknowledgement& what) {
  Epoch& epoch = epochs_[flow];
  double& window = of(flow).window;
  if (!epoch.begun) { begin(epoch, window, what.now); }
  const double since = seconds(what.now - epoch.begin + what.round_trip) - epoch.inflection;
  const double target = std::clamp(epoch.most + kCubic * since * since * since, window, 1.5 * window);
  const double friendly_gain = epoch.friendly < epoch.most ? 3 * (1 - kCubicLeft) / (1 + kCubicLeft) : 1;
  epoch.friendly += friendly_gain * what.packets / window;
  window = std::max(window + what.packets * (target - window) / window, epoch.friendly);
}

double Cubic::reduced(ConnectionId flow, const Progress&) {
  Epoch& epoch = epochs_[flow];
  const double window = of(flow).window;
  // Fast convergence: who has less than at the last loss gives way to newcomers.
  epoch.most = window < epoch.most ? window * (1 + kCubicLeft) / 2 : window;
  epoch.begun = false;
  return window * kCubicLeft;
}

void Cubic::timed_out(ConnectionId flow, const Progress& progress) {
  WindowControl::timed_out(flow, progress);
  epochs_[flow].begun = false;
}

void Cubic::skip(ConnectionId flow, Time by, std::uint32_t packets) {
  WindowControl::skip(flow, by, packets);
  epochs_[flow].begin += by;
}

}  // namespace

struct CubicControl : ControlKind {
  static ControlWords description() {
    return {.name = "cubic",
            .meaning = "windows that losses cut, and that grow with the cube of time",
            .by_losses = true,
            .initial_window = true};
  }
  std::unique_ptr<CongestionControl> make(const ControlSite& site) const override {
    return std::make_unique<Cubic>(site);
  }
};

template ControlEntry control_entry_of<CubicControl>();

}  // namespace athanor
