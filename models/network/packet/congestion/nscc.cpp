#include <algorithm>
#include <cmath>

#include "models/network/packet/congestion/entry.hpp"
#include "models/network/packet/congestion/round_trip.hpp"
#include "models/network/packet/congestion/window_control.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"

namespace athanor {

using namespace literals;

namespace {

/// NSCC, the network-signalled congestion control of the Ultra Ethernet Specification 1.0, section 3.6.13, with its
/// names and, where it leaves a choice, the values of htsim's model of it. It is SMaRTT (Bonato et al.,
/// arXiv:2404.01630).
struct NsccSpec {
  std::optional<Time> target;        ///< target_qdelay; none: 0.75 of the base round trip
  Ratio most_window{3, 2};           ///< of the bandwidth-delay product; the first window, too
  Ratio proportional_increase{4};    ///< packets a round trip where nothing waits (alpha), scaled as the next
  Ratio fair_increase{5};            ///< packets a round trip (fi), scaled by the bandwidth-delay product
  Ratio eta{15, 100};                ///< packets with each adjustment, scaled likewise
  Ratio decrease{8, 10};             ///< gamma
  Ratio most_decrease{1, 2};         ///< of the window, at once (max_md_jump)
  std::uint32_t adjust_packets = 8;  ///< what was gained is added after so many packets (adjust_bytes_threshold)
  std::uint32_t quick_gate = 3;      ///< qa_gate: QuickAdapt where less than 2^-gate of the largest window came through
};

/// Two signals, marks and delay, tell four states (see acknowledged()). Windows are in bytes on the wire; what a state
/// gains is gathered and added after some packets or a round trip. Where next to nothing comes through, QuickAdapt
/// sets the window to what did in a round trip.
class Nscc final : public CongestionControl {
 public:
  Nscc(const NsccSpec& spec, const ControlSite& site);

  std::uint32_t window(ConnectionId flow) const override { return whole_packets(flows_[flow].window / packet_); }
  void acknowledged(ConnectionId flow, const Acknowledgement& what) override;
  void lost(ConnectionId flow, const Progress& progress) override;
  void timed_out(ConnectionId flow, const Progress& progress) override;
  double level(ConnectionId flow) const override { return flows_[flow].window; }
  void skip(ConnectionId flow, Time by, std::uint32_t packets) override;

 private:
  struct Flow {
    // What follows from the path; times in picoseconds.
    double base = 0;         ///< round trip where nothing waits
    double target = 0;       ///< queueing delay aimed at
    double scale = 0;        ///< bandwidth-delay product over that of the reference, 100 Gb/s for 12 us
    double most_window = 0;  ///< bytes

    double window = 0;                ///< cwnd, bytes
    double average_delay = 0;         ///< avg_delay
    double gained = 0;                ///< inc_bytes, times the window: bytes squared
    double acknowledged = 0;          ///< bytes since what was gained was last added
    double idle = 0;                  ///< bytes acknowledged in a row that waited nowhere (fi_count)
    bool fast = false;                ///< increases fast: a window of such packets came
    double achieved = 0;              ///< bytes acknowledged since `quick_end` was last set
    Time quick_end;                   ///< zero: not set
    bool alarmed = false;             ///< a packet was lost since
    std::uint32_t ignore_before = 0;  ///< marks of earlier packets were answered by QuickAdapt
    Time last_adjustment;
    Time last_decrease;
  };
  bool quick_adapt(Flow& flow, const Acknowledgement& what, double delay) const;
  void average(Flow& flow, bool marked, double delay) const;
  void increase(Flow& flow, double bytes, double delay) const;
  void decrease(Flow& flow, Time now) const;
  void adjust(Flow& flow, Time now) const;
  double bounded(const Flow& flow, double window) const { return std::clamp(window, packet_, flow.most_window); }

  NsccSpec spec_;
  double packet_;  ///< bytes of a full one
  IdVector<ConnectionId, Flow> flows_;
};

constexpr double kReferenceProduct = 150'000;  ///< bytes: 100 Gb/s for 12 us
constexpr double kReferenceTrip = 12e6;        ///< picoseconds
constexpr double kDelayWeight = 0.0125;        ///< delay_alpha
constexpr double kAlarmingDelay = 4;           ///< qa_threshold, of the target
constexpr double kNothingWaits = 1e6;          ///< picoseconds: less of a queue counts as none

Nscc::Nscc(const NsccSpec& spec, const ControlSite& site)
    : spec_(spec), packet_(static_cast<double>(site.packet.count())), flows_(site.line_rates.size()) {
  for (const ConnectionId f : flows_.ids()) {
    if (!has_hops(site, f)) { continue; }
    Flow& flow = flows_[f];
    const Time base = base_round_trip(site, f);
    const double product = static_cast<double>(site.line_rates[f].count()) * seconds(base);
    flow.base = static_cast<double>(base.count());
    flow.target = spec_.target ? static_cast<double>(spec_.target->count()) : 0.75 * flow.base;
    flow.scale = product / kReferenceProduct;
    flow.most_window = std::max(packet_, to_double(spec_.most_window) * product);
    flow.window = flow.most_window;
  }
}

/// Unmarked packets that waited long met queues that are about to empty: they count as a quarter of a round trip.
void Nscc::average(Flow& flow, bool marked, double delay) const {
  const double sample = !marked && delay > flow.target ? flow.base / 4 : delay;
  flow.average_delay += kDelayWeight * (sample - flow.average_delay);
}

/// True where the packet says nothing more: QuickAdapt has just set the window, or did so after the packet was sent.
bool Nscc::quick_adapt(Flow& flow, const Acknowledgement& what, double delay) const {
  if (what.packet < flow.ignore_before && what.marked) { return true; }
  if (what.now <= flow.quick_end) { return false; }
  const bool little = flow.achieved < flow.most_window / std::exp2(spec_.quick_gate);
  const bool adapts = flow.quick_end > Time::zero() && little && (flow.alarmed || delay > kAlarmingDelay * flow.target);
  if (adapts) {
    flow.window = bounded(flow, std::min(flow.window, flow.achieved));
    flow.ignore_before = what.sent;
    flow.alarmed = false;
  }
  flow.achieved = 0;
  flow.quick_end = what.now + Time{static_cast<std::int64_t>(flow.base + flow.target)};
  return adapts;
}

/// Fast where a whole window waited nowhere, else in proportion to how far the delay is below its target.
void Nscc::increase(Flow& flow, double bytes, double delay) const {
  flow.idle = delay < kNothingWaits ? flow.idle + bytes : 0;
  flow.fast = delay < kNothingWaits && (flow.fast || flow.idle > flow.window);
  if (flow.fast) {
    flow.window += bytes * flow.scale / 4;
  } else {
    const double most = to_double(spec_.proportional_increase) * packet_ * flow.scale * flow.target / kReferenceTrip;
    flow.gained += most * (1 - delay / flow.target) * bytes;
  }
}

/// By how far the average is above the target, at most once a round trip.
void Nscc::decrease(Flow& flow, Time now) const {
  flow.fast = false;
  flow.idle = 0;
  if (flow.average_delay <= flow.target) { return; }
  if (static_cast<double>((now - flow.last_decrease).count()) <= flow.base) { return; }
  const double share = to_double(spec_.decrease) * (1 - flow.target / flow.average_delay);
  flow.window *= std::max(1 - share, 1 - to_double(spec_.most_decrease));
  flow.last_decrease = now;
}

/// Adds what was gained (fulfill_adjustment).
void Nscc::adjust(Flow& flow, Time now) const {
  const bool round_is_over = static_cast<double>((now - flow.last_adjustment).count()) >= flow.base;
  if (flow.acknowledged <= spec_.adjust_packets * packet_ && !round_is_over) { return; }
  flow.window += flow.gained / flow.window;
  if (round_is_over) {
    flow.window += to_double(spec_.eta) * packet_ * flow.scale;
    flow.last_adjustment = now;
  }
  flow.gained = flow.acknowledged = 0;
}

/// Not marked and soon: room for more, in proportion. Not marked but late: what there is goes to all alike. Marked and
/// late: less. Marked but soon: a queue that begins to fill, which other paths may relieve.
void Nscc::acknowledged(ConnectionId number, const Acknowledgement& what) {
  Flow& flow = flows_[number];
  const double bytes = what.packets * packet_;
  const double delay = std::max(0.0, static_cast<double>(what.round_trip.count()) - flow.base);
  average(flow, what.marked, delay);
  flow.achieved += bytes;
  flow.acknowledged += bytes;
  if (quick_adapt(flow, what, delay)) {
    flow.gained = flow.acknowledged = 0;
    return;
  }
  if (delay < flow.target) {
    if (!what.marked) { increase(flow, bytes, delay); }
  } else if (what.marked) {
    decrease(flow, what.now);
  } else {
    flow.gained += to_double(spec_.fair_increase) * packet_ * flow.scale * bytes;
  }
  flow.window = bounded(flow, flow.window);
  adjust(flow, what.now);
  flow.window = bounded(flow, flow.window);
}

void Nscc::lost(ConnectionId number, const Progress& progress) {
  Flow& flow = flows_[number];
  flow.alarmed = true;
  if (progress.packet >= flow.ignore_before) { flow.window = bounded(flow, flow.window - packet_); }
}

void Nscc::timed_out(ConnectionId number, const Progress& progress) { lost(number, progress); }

void Nscc::skip(ConnectionId number, Time by, std::uint32_t packets) {
  Flow& flow = flows_[number];
  if (flow.quick_end > Time::zero()) { flow.quick_end += by; }
  flow.last_adjustment += by;
  flow.last_decrease += by;
  flow.ignore_before += packets;
}

}  // namespace

struct NsccControl : ControlKind {
  static ControlWords description() {
    return {.name = "nscc",
            .meaning = "windows that marks and delay steer together (Ultra Ethernet)",
            .has_keys = true,
            .needs_marks = true,
            .selective_only = true};
  }
  void visit(Fields& fields) override {
    fields.optional("target", spec_.target, "Queueing delay aimed at; default: 0.75 of the base round trip",
                    {1_ns, 1_s});
    fields.optional("most_window", spec_.most_window, "Of the bandwidth-delay product; the first window, too",
                    {{1, 100}, {100, 1}});
    fields.optional("proportional_increase", spec_.proportional_increase,
                    "alpha: packets a round trip where nothing waits", {{0, 1}, {1000, 1}});
    fields.optional("fair_increase", spec_.fair_increase, "fi: packets a round trip where unmarked packets waited",
                    {{0, 1}, {1000, 1}});
    fields.optional("eta", spec_.eta, "Packets that a window gains each round trip in any case", {{0, 1}, {1000, 1}});
    fields.optional("decrease", spec_.decrease, "gamma: by the share of the delay above the target", {{0, 1}, {1, 1}});
    fields.optional("most_decrease", spec_.most_decrease, "Of the window, at once", {{0, 1}, {1, 1}});
    fields.optional("adjust_packets", spec_.adjust_packets, "What was gained is added after so many", {1, 100'000});
    fields.optional("quick_gate", spec_.quick_gate,
                    "QuickAdapt where less than 1 / 2^gate of the largest window came through", {0, 30});
  }
  std::unique_ptr<CongestionControl> make(const ControlSite& site) const override {
    return std::make_unique<Nscc>(spec_, site);
  }

 private:
  NsccSpec spec_;
};

template ControlEntry control_entry_of<NsccControl>();

}  // namespace athanor
