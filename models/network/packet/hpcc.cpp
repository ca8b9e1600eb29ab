#include "models/network/packet/hpcc.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

Time base_round_trip(PacketLinks& links, std::uint32_t number, const TransportSpec& transport) {
  const PacketTopology::Flow& flow = links.plan().flows[number];
  const auto along = [&](std::uint32_t first, std::uint32_t hops, Bytes bytes) {
    Time time;
    for (std::uint32_t hop = first; hop < first + hops; ++hop) {
      const std::uint32_t link = links.plan().hops[hop];
      const PacketTopology::Device& target = links.plan().devices[links.link(link).target];
      const bool cut_through = !target.host && links.plan().switches[target.spec].cut_through;
      time += links.link(link).latency;
      if (!cut_through) { time += links.port(link).duration(static_cast<std::uint32_t>(bytes.count())); }
    }
    return time;
  };
  return along(flow.first_hop, flow.hops, transport.payload + transport.header) +
         along(flow.first_hop_back, flow.hops_back, transport.reply);
}

namespace {

/// The paper has one base round trip for the whole network: with one for each flow, near senders would get a third of
/// what far ones get at the same port.
Time longest_round_trip(PacketLinks& links, const TransportSpec& transport) {
  Time longest;
  for (std::uint32_t f = 0; f < links.plan().flows.size(); ++f) {
    if (links.plan().flows[f].hops > 0) { longest = std::max(longest, base_round_trip(links, f, transport)); }
  }
  return longest;
}

}  // namespace

Hpcc::Hpcc(const TransportSpec& transport, PacketLinks& links)
    : spec_(transport.hpcc),
      packet_(static_cast<double>((transport.payload + transport.header).count())),
      links_(links),
      flows_(links.plan().flows.size()) {
  std::vector<std::uint32_t> remembered(flows_.size(), 1);
  const Time base = spec_.round_trip > Time::zero() ? spec_.round_trip : longest_round_trip(links, transport);
  for (std::uint32_t f = 0; f < flows_.size(); ++f) {
    const PacketTopology::Flow& plan = links.plan().flows[f];
    if (plan.hops == 0) { continue; }
    Flow& flow = flows_[f];
    const Bandwidth line = links.link(links.plan().hops[plan.first_hop]).rate;
    flow.base = static_cast<double>(base.count());
    flow.most = std::max(packet_, static_cast<double>(line.count()) * seconds(base));
    flow.window = flow.reference = flow.most;
    remembered[f] = 2 * window(f) + 2;
  }
  links.write_telemetry(remembered);
}

std::uint32_t Hpcc::window(std::uint32_t flow) const {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(flows_[flow].window / packet_), 1.0, 1e9));
}

Time Hpcc::paced(std::uint32_t number, std::uint32_t bytes, Time start) {
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
    if (now.link == UINT32_MAX || now.link != before.link || now.when <= before.when) { continue; }
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

void Hpcc::acknowledged(std::uint32_t number, const Acknowledgement& what) {
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

}  // namespace athanor
