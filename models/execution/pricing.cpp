#include "models/execution/pricing.hpp"

#include <algorithm>

namespace athanor {

ProfilePricing::ProfilePricing(const Fabric& fabric, const Profile& profile, const Protocol& protocol,
                               std::uint32_t ranks, Bytes element_size, std::uint32_t least_slots)
    : fabric_(fabric),
      profile_(profile),
      protocol_(protocol),
      ranks_(ranks),
      element_size_(element_size),
      slots_(std::max(protocol.slots, least_slots)) {}

AgentCost ProfilePricing::agent(AgentId agent) const {
  if (agent.value >= ranks_) { return {}; }  // an engine reduces at line rate
  return {protocol_.overhead, profile_.reduce_rate, profile_.copy_rate, profile_.overlapped};
}

ConnectionCost ProfilePricing::connection(AgentId from, AgentId to, std::span<const LinkId> path) const {
  const bool engine = from.value >= ranks_ || to.value >= ranks_;
  const bool network =
      std::any_of(path.begin(), path.end(), [&](LinkId l) { return fabric_.link(l).kind == LinkKind::network; });
  const HopCost& hop = engine ? protocol_.engine : network ? protocol_.network : protocol_.node;
  ConnectionCost cost;
  cost.latency = hop.latency;
  cost.end = protocol_.send_end;
  cost.grain = engine ? protocol_.engine_grain : protocol_.grain;
  cost.wire_numerator = protocol_.payload.denominator;
  cost.wire_denominator = protocol_.payload.numerator;
  if (!engine && protocol_.handshake > Time::zero() && protocol_.eager != Bytes::max()) {
    cost.eager = scaled_up(protocol_.eager, {cost.wire_numerator, cost.wire_denominator});
    cost.handshake = protocol_.handshake;
  }
  if (hop.rate != Bandwidth::max()) { cost.cap = scaled_up(hop.rate, {cost.wire_numerator, cost.wire_denominator}); }
  return cost;
}

}  // namespace athanor
