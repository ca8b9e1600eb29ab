#include <algorithm>
#include <cmath>

#include "models/network/packet/congestion/entry.hpp"
#include "models/network/packet/congestion/window_control.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

using namespace literals;

namespace {

/// Swift as in Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM
/// 2020, with the parameters of its section 3.
struct SwiftSpec {
  Time target{25'000'000};    ///< round trip, of a flow with a large window
  Time scaling{100'000'000};  ///< most that small windows add to it
  Ratio increase{1, 1};       ///< packets per round trip
  Ratio decrease{4, 5};       ///< beta
  Ratio most_decrease{1, 2};  ///< of the window, at once
};

/// Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020):
/// the window grows by `increase` packets a round trip while the round trip is below its target, and falls by how far
/// it is above, at most once a round trip. Windows below one packet pace.
class Swift final : public CongestionControl {
 public:
  Swift(const SwiftSpec& spec, const ControlSite& site);

  std::uint32_t window(ConnectionId flow) const override;
  Time paced(ConnectionId flow, std::uint32_t bytes, Time start) override;
  void acknowledged(ConnectionId flow, const Acknowledgement& what) override;
  void lost(ConnectionId flow, const Progress& progress) override;
  void timed_out(ConnectionId flow, const Progress& progress) override;
  double level(ConnectionId flow) const override { return flows_[flow].window; }
  bool paces(ConnectionId flow) const override { return flows_[flow].window < 1; }
  void skip(ConnectionId flow, Time by, std::uint32_t /*packets*/) override { flows_[flow].last_decrease += by; }

 private:
  struct Flow {
    double window = 1;
    Time round_trip;
    Time last_decrease;
  };
  Time target(double window) const;
  void cut(Flow& flow, double factor, Time now) const;

  SwiftSpec spec_;
  IdVector<ConnectionId, Flow> flows_;
};

Swift::Swift(const SwiftSpec& spec, const ControlSite& site) : spec_(spec), flows_(site.line_rates.size()) {
  for (Flow& flow : flows_) { flow.window = site.initial_window; }
}

std::uint32_t Swift::window(ConnectionId flow) const { return whole_packets(flows_[flow].window); }

Time Swift::paced(ConnectionId number, std::uint32_t /*bytes*/, Time start) {
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

void Swift::acknowledged(ConnectionId number, const Acknowledgement& what) {
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

void Swift::lost(ConnectionId number, const Progress& progress) {
  cut(flows_[number], 1 - to_double(spec_.most_decrease), progress.now);
}

void Swift::timed_out(ConnectionId number, const Progress& progress) {
  cut(flows_[number], 1 - to_double(spec_.most_decrease), progress.now);
}

}  // namespace

struct SwiftControl : ControlKind {
  static ControlWords description() {
    return {.name = "swift", .meaning = "windows that delay cuts", .has_keys = true, .initial_window = true};
  }
  void visit(Fields& fields) override {
    fields.optional("target", spec_.target, "Round trip that a flow with a large window aims at", {1_ns, 1_s});
    fields.optional("scaling", spec_.scaling, "Most that small windows add to it", {Time::zero(), 1_s});
    fields.optional("increase", spec_.increase, "Packets per round trip", {{1, 1000}, {1000, 1}});
    fields.optional("decrease", spec_.decrease, "Of the window, by the share of the delay above the target",
                    {{0, 1}, {1, 1}});
    fields.optional("most_decrease", spec_.most_decrease, "Of the window, at once", {{0, 1}, {1, 1}});
  }
  std::unique_ptr<CongestionControl> make(const ControlSite& site) const override {
    return std::make_unique<Swift>(spec_, site);
  }

 private:
  SwiftSpec spec_;
};

template ControlEntry control_entry_of<SwiftControl>();

}  // namespace athanor
