#include <algorithm>
#include <cmath>
#include <span>

#include "models/network/packet/congestion/entry.hpp"
#include "models/network/packet/congestion/round_trip.hpp"
#include "models/network/packet/packet_links.hpp"
#include "models/network/packet/telemetry.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

using namespace literals;

namespace {

/// HPCC as in Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, with the parameters of its section 5.
struct HpccSpec {
  Ratio utilisation{95, 100};     ///< eta
  std::uint32_t most_stages = 5;  ///< maxStage: round trips of additive increase in a row
  Bytes increase{80};             ///< W_AI, with each change
  Time round_trip;                ///< T, one for the network; zero: the longest of its flows where nothing waits
};

/// HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1, with its names): windows
/// follow how much of its bandwidth-delay product each link on the path holds, as switches write it into packets.
/// Windows are in bytes on the wire, and packets are paced at a window per base round trip.
class Hpcc final : public CongestionControl {
 public:
  /// Lets the switches of `links` write telemetry, from now on.
  Hpcc(const HpccSpec& spec, const ControlSite& site);

  std::uint32_t window(ConnectionId flow) const override;
  Time paced(ConnectionId flow, std::uint32_t bytes, Time start) override;
  void acknowledged(ConnectionId flow, const Acknowledgement& what) override;
  double level(ConnectionId flow) const override { return flows_[flow].window; }
  bool paces(ConnectionId /*flow*/) const override { return true; }
  void skip(ConnectionId flow, Time by, std::uint32_t packets) override;

 private:
  struct Flow {
    double base = 0;              ///< T, in picoseconds
    double most = 0;              ///< the window that fills the first link for T
    double window = 0;            ///< W
    double reference = 0;         ///< W^c
    double utilisation = 1;       ///< U
    std::uint32_t stage = 0;      ///< incStage
    std::uint32_t update = 0;     ///< the reference changes with the acknowledgement of this packet or a later one
    std::vector<HopRecord> last;  ///< L
  };
  void measure(Flow& flow, std::span<const HopRecord> records) const;
  void adjust(Flow& flow, bool update) const;

  HpccSpec spec_;
  double packet_;  ///< bytes of a full one
  PacketLinks& links_;
  IdVector<ConnectionId, Flow> flows_;
};

/// The paper has one base round trip for the whole network: with one for each flow, near senders would get a third of
/// what far ones get at the same port.
Time longest_round_trip(const ControlSite& site) {
  Time longest;
  for (const ConnectionId flow : site.line_rates.ids()) {
    if (has_hops(site, flow)) { longest = std::max(longest, base_round_trip(site, flow)); }
  }
  return longest;
}

Hpcc::Hpcc(const HpccSpec& spec, const ControlSite& site)
    : spec_(spec),
      packet_(static_cast<double>(site.packet.count())),
      links_(site.links),
      flows_(site.line_rates.size()) {
  IdVector<ConnectionId, std::uint32_t> remembered(flows_.size(), 1);
  const Time base = spec_.round_trip > Time::zero() ? spec_.round_trip : longest_round_trip(site);
  for (const ConnectionId f : flows_.ids()) {
    if (!has_hops(site, f)) { continue; }
    Flow& flow = flows_[f];
    flow.base = static_cast<double>(base.count());
    flow.most = std::max(packet_, static_cast<double>(site.line_rates[f].count()) * seconds(base));
    flow.window = flow.reference = flow.most;
    remembered[f] = 2 * window(f) + 2;
  }
  links_.write_telemetry(remembered);
}

std::uint32_t Hpcc::window(ConnectionId flow) const {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(flows_[flow].window / packet_), 1.0, 1e9));
}

Time Hpcc::paced(ConnectionId number, std::uint32_t bytes, Time start) {
  const Flow& flow = flows_[number];
  return start + Time{static_cast<std::int64_t>(flow.base * bytes / flow.window)};
}

/// MeasureInflight: of the busiest link, averaged over a base round trip.
void Hpcc::measure(Flow& flow, std::span<const HopRecord> records) const {
  double most = 0;
  double over = 0;
  for (std::size_t hop = 0; hop < records.size(); ++hop) {
    const HopRecord& now = records[hop];
    const HopRecord& before = flow.last[hop];
    if (now.link == HopRecord::kNoLink || now.link != before.link || now.when <= before.when) { continue; }
    const double rate = static_cast<double>(links_.link(now.link).rate.count()) * 1e-12;  // bytes a picosecond
    const auto interval = static_cast<double>((now.when - before.when).count());
    const double sent = static_cast<double>(now.sent - before.sent) / interval;
    const double found = static_cast<double>(std::min(now.queue, before.queue)) / (rate * flow.base) + sent / rate;
    if (found <= most) { continue; }
    most = found;
    over = interval;
  }
  if (most == 0) { return; }
  const double weight = std::min(over, flow.base) / flow.base;
  flow.utilisation = (1 - weight) * flow.utilisation + weight * most;
}

/// ComputeWind.
void Hpcc::adjust(Flow& flow, bool update) const {
  const double target = to_double(spec_.utilisation);
  const auto more = static_cast<double>(spec_.increase.count());
  const bool multiply = flow.utilisation >= target || flow.stage >= spec_.most_stages;
  flow.window = multiply ? flow.reference * target / flow.utilisation + more : flow.reference + more;
  flow.window = std::clamp(flow.window, packet_ / 100, flow.most);
  if (!update) { return; }
  flow.stage = multiply ? 0 : flow.stage + 1;
  flow.reference = flow.window;
}

void Hpcc::acknowledged(ConnectionId number, const Acknowledgement& what) {
  Flow& flow = flows_[number];
  const std::span<const HopRecord> records = links_.telemetry()->of(number, what.packet);
  if (records.empty()) { return; }  // no switch on the way
  const bool first = flow.last.empty();
  if (!first) {
    const bool update = what.packet >= flow.update;
    measure(flow, records);
    adjust(flow, update);
    if (update) { flow.update = what.sent; }
  }
  flow.last.assign(records.begin(), records.end());
}

void Hpcc::skip(ConnectionId number, Time by, std::uint32_t packets) {
  Flow& flow = flows_[number];
  flow.update += packets;
  for (HopRecord& record : flow.last) { record.when += by; }
}

}  // namespace

struct HpccControl : ControlKind {
  static ControlWords description() {
    return {.name = "hpcc",
            .meaning = "windows that follow what switches write into packets",
            .has_keys = true,
            .telemetry = true};
  }
  void visit(Fields& fields) override {
    fields.optional("utilisation", spec_.utilisation, "That flows aim at on their busiest link", {{1, 100}, {1, 1}});
    fields.optional("most_stages", spec_.most_stages, "Round trips in a row in which windows only grow", {0, 1000});
    fields.optional("increase", spec_.increase, "Bytes that a window grows by at each change", {Bytes::zero(), 1_MiB});
    std::optional<Time> round_trip;
    fields.optional("round_trip", round_trip, "Where nothing waits, of the network; default: the longest of its flows",
                    {1_ns, 1_s});
    spec_.round_trip = round_trip.value_or(Time::zero());
  }
  std::unique_ptr<CongestionControl> make(const ControlSite& site) const override {
    return std::make_unique<Hpcc>(spec_, site);
  }

 private:
  HpccSpec spec_;
};

template ControlEntry control_entry_of<HpccControl>();

}  // namespace athanor
