#include "models/network/packet/window_controls.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

namespace {

constexpr double kLeastThreshold = 2;
constexpr double kMostWindow = 1e9;

std::uint32_t whole(double window) { return static_cast<std::uint32_t>(std::clamp(window, 1.0, kMostWindow)); }

}  // namespace

WindowControl::WindowControl(double initial_window, std::size_t flows) : flows_(flows) {
  for (Flow& flow : flows_) { flow.window = initial_window; }
}

std::uint32_t WindowControl::window(std::uint32_t flow) const { return whole(of(flow).window); }

void WindowControl::acknowledged(std::uint32_t flow, const Acknowledgement& what) {
  Flow& own = of(flow);
  if (own.window < own.threshold) {
    own.window = std::min(own.window + what.packets, std::max(own.threshold, own.window));
  } else {
    grow(flow, what);
  }
  own.window = std::min(own.window, kMostWindow);
}

void WindowControl::grow(std::uint32_t flow, const Acknowledgement& what) {
  of(flow).window += what.packets / of(flow).window;
}

double WindowControl::reduced(std::uint32_t flow, const Progress& progress) {
  return std::min(of(flow).window, static_cast<double>(progress.outstanding)) / 2;
}

void WindowControl::lost(std::uint32_t flow, const Progress& progress) {
  Flow& own = of(flow);
  if (progress.packet < own.recovery) { return; }
  own.recovery = progress.sent;
  own.window = own.threshold = std::max(kLeastThreshold, reduced(flow, progress));
}

void WindowControl::timed_out(std::uint32_t flow, const Progress& progress) {
  Flow& own = of(flow);
  own.threshold = std::max(kLeastThreshold, reduced(flow, progress));
  own.window = 1;
  own.recovery = progress.sent;
}

namespace {

// RFC 9438: C in packets per cubic second, and what of the window a loss leaves.
constexpr double kCubic = 0.4;
constexpr double kCubicLeft = 0.7;

}  // namespace

void Cubic::begin(Epoch& epoch, double window, Time now) const {
  epoch.begun = true;
  epoch.begin = now;
  epoch.friendly = window;
  epoch.most = std::max(epoch.most, window);
  epoch.inflection = std::cbrt((epoch.most - window) / kCubic);
}

void Cubic::grow(std::uint32_t flow, const Acknowledgement& what) {
  Epoch& epoch = epochs_[flow];
  double& window = of(flow).window;
  if (!epoch.begun) { begin(epoch, window, what.now); }
  const double since = seconds(what.now - epoch.begin + what.round_trip) - epoch.inflection;
  const double target = std::clamp(epoch.most + kCubic * since * since * since, window, 1.5 * window);
  const double friendly_gain = epoch.friendly < epoch.most ? 3 * (1 - kCubicLeft) / (1 + kCubicLeft) : 1;
  epoch.friendly += friendly_gain * what.packets / window;
  window = std::max(window + what.packets * (target - window) / window, epoch.friendly);
}

double Cubic::reduced(std::uint32_t flow, const Progress&) {
  Epoch& epoch = epochs_[flow];
  const double window = of(flow).window;
  // Fast convergence: who has less than at the last loss gives way to newcomers.
  epoch.most = window < epoch.most ? window * (1 + kCubicLeft) / 2 : window;
  epoch.begun = false;
  return window * kCubicLeft;
}

void Cubic::timed_out(std::uint32_t flow, const Progress& progress) {
  WindowControl::timed_out(flow, progress);
  epochs_[flow].begun = false;
}

void Dctcp::acknowledged(std::uint32_t flow, const Acknowledgement& what) {
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

Swift::Swift(const SwiftSpec& spec, double initial_window, std::size_t flows) : spec_(spec), flows_(flows) {
  for (Flow& flow : flows_) { flow.window = initial_window; }
}

std::uint32_t Swift::window(std::uint32_t flow) const { return whole(flows_[flow].window); }

Time Swift::paced(std::uint32_t number, std::uint32_t /*bytes*/, Time start) {
  const Flow& flow = flows_[number];
  if (flow.window >= 1) { return start; }
  return start + Time{static_cast<std::int64_t>(static_cast<double>(flow.round_trip.count()) / flow.window)};
}

/// The base target, and more for small windows: many flows that share a queue make it longer.
Time Swift::target(double window) const {
  constexpr double kFewest = 0.1;  // packets between which the target is scaled
  constexpr double kMost = 100;
  const double range = static_cast<double>(spec_.scaling.count());
  const double slope = range / (1 / std::sqrt(kFewest) - 1 / std::sqrt(kMost));
  const double more = std::clamp(slope * (1 / std::sqrt(window) - 1 / std::sqrt(kMost)), 0.0, range);
  return spec_.target + Time{static_cast<std::int64_t>(more)};
}

void Swift::acknowledged(std::uint32_t number, const Acknowledgement& what) {
  Flow& flow = flows_[number];
  flow.round_trip = what.round_trip;
  const Time target = this->target(flow.window);
  if (what.round_trip < target) {
    const double increase = to_double(spec_.increase) * what.packets;
    flow.window += flow.window >= 1 ? increase / flow.window : increase;
  } else {
    const double above =
        static_cast<double>((what.round_trip - target).count()) / static_cast<double>(what.round_trip.count());
    cut(flow, std::max(1 - to_double(spec_.decrease) * above, 1 - to_double(spec_.most_decrease)), what.now);
  }
  flow.window = std::min(flow.window, kMostWindow);
}

void Swift::cut(Flow& flow, double factor, Time now) const {
  constexpr double kLeastWindow = 0.01;
  if (now - flow.last_decrease < flow.round_trip) { return; }
  flow.last_decrease = now;
  flow.window = std::max(kLeastWindow, flow.window * factor);
}

void Swift::lost(std::uint32_t number, const Progress& progress) {
  cut(flows_[number], 1 - to_double(spec_.most_decrease), progress.now);
}

void Swift::timed_out(std::uint32_t number, const Progress& progress) {
  cut(flows_[number], 1 - to_double(spec_.most_decrease), progress.now);
}

}  // namespace athanor
