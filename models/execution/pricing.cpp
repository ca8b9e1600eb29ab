#include "models/execution/pricing.hpp"

#include <algorithm>

#include "models/software/profile.hpp"
#include "sim/check.hpp"

namespace athanor {

ProfilePricing::ProfilePricing(const Fabric& fabric, const Profile& profile, const Protocol& protocol, AgentKinds kinds,
                               Bytes element_size, std::uint32_t least_slots)
    : fabric_(fabric),
      profile_(profile),
      protocol_(protocol),
      kinds_(kinds),
      element_size_(element_size),
      slots_(std::max(protocol.slots, least_slots)) {}

AgentCost ProfilePricing::agent(AgentId agent) const {
  if (aggregates(agent)) {
    const EngineCost& cost = protocol_.aggregation;
    return {cost.overhead, cost.reduce_rate, Bandwidth::max(), cost.grain > Bytes::zero()};
  }
  if (!is_device(agent)) { return {}; }  // NVSwitches reduce at line rate
  return {protocol_.overhead, profile_.reduce_rate, profile_.copy_rate, profile_.overlapped, protocol_.unpack_rate};
}

HopCost ProfilePricing::hop(AgentId from, AgentId to, std::span<const LinkId> path) const {
  if (aggregates(from) || aggregates(to)) {
    const EngineCost& cost = protocol_.aggregation;
    const bool both = aggregates(from) && aggregates(to);
    HopCost hop{cost.latency + (both ? Time::zero() : cost.host_latency), cost.rate};
    return hop;
  }
  if (!is_device(from) || !is_device(to)) { return protocol_.engine; }
  const bool network =
      std::any_of(path.begin(), path.end(), [&](LinkId l) { return fabric_.link(l).kind == LinkKind::network; });
  return network ? protocol_.network : protocol_.node;
}

Bytes ProfilePricing::grain(AgentId from, AgentId to) const {
  if (aggregates(from) || aggregates(to)) { return protocol_.aggregation.grain; }
  return is_device(from) && is_device(to) ? protocol_.grain : protocol_.engine_grain;
}

/// A figure of a link between sockets is what transfers reach. Where that is less than what is left of the other links,
/// it decides alone.
Ratio ProfilePricing::efficiency(const HopCost& hop, std::span<const LinkId> path) const {
  if (hop.efficiency == Ratio{1, 1}) { return hop.efficiency; }
  Bandwidth sockets = Bandwidth::max();
  Bandwidth others = Bandwidth::max();
  for (const LinkId link : path) {
    Bandwidth& narrowest = fabric_.link(link).kind == LinkKind::socket ? sockets : others;
    narrowest = std::min(narrowest, fabric_.link(link).usable);
  }
  const bool decides =
      sockets != Bandwidth::max() && others != Bandwidth::max() && sockets <= scaled_down(others, hop.efficiency);
  return decides ? Ratio{1, 1} : hop.efficiency;
}

ConnectionCost ProfilePricing::connection(AgentId from, AgentId to, std::span<const LinkId> path) const {
  const HopCost hop = this->hop(from, to, path);
  ConnectionCost cost;
  cost.latency = hop.latency;
  cost.end = protocol_.send_end;
  cost.injection_rate = hop.injection_rate;
  cost.grain = hop.grain.value_or(grain(from, to));
  const Ratio protocol = aggregates(from) || aggregates(to) ? protocol_.aggregation.payload : protocol_.payload;
  const Ratio payload = product(protocol, efficiency(hop, path));
  cost.wire_numerator = payload.denominator;
  cost.wire_denominator = payload.numerator;
  if (is_device(from) && is_device(to) && protocol_.handshake > Time::zero() && protocol_.eager != Bytes::max()) {
    cost.eager = scaled_up(protocol_.eager, {cost.wire_numerator, cost.wire_denominator});
    cost.handshake = protocol_.handshake;
  }
  if (hop.rate != Bandwidth::max()) { cost.cap = scaled_up(hop.rate, {cost.wire_numerator, cost.wire_denominator}); }
  return cost;
}

AgentCost SideBySidePricing::agent(AgentId agent) const {
  const std::optional<AgentMapping::Role> role = agents_.role(agent);
  if (!role) { return {}; }
  const CostModel& own = *costs_[role->part];
  AgentCost cost = own.agent(role->agent);
  cost.element_size = own.element_size();
  cost.slots = own.slots();
  return cost;
}

ConnectionCost SideBySidePricing::connection(AgentId from, AgentId to, std::span<const LinkId> path) const {
  const std::optional<AgentMapping::Role> sender = agents_.role(from);
  const std::optional<AgentMapping::Role> receiver = agents_.role(to);
  require(sender && receiver && sender->part == receiver->part, "agents {} and {} are of one schedule each", from.value,
          to.value);
  return costs_[sender->part]->connection(sender->agent, receiver->agent, path);
}

/// Enough for all of them.
std::uint32_t SideBySidePricing::slots() const {
  std::uint32_t most = 0;
  for (const CostModel* each : costs_) { most = std::max(most, each->slots()); }
  return most;
}

}  // namespace athanor
