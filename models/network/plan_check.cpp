#include "models/network/plan_check.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {
void check_connection(const NetworkPlan& plan, ConnectionId id) {
  const NetworkPlan::Connection& connection = plan.connections[id];
  const std::uint32_t index = id.value;
  require(connection.cap > Bandwidth::zero(), "connection {} has no rate", index);
  require(connection.latency >= Time::zero() && connection.grain >= Bytes::zero(),
          "connection {} has a negative latency or grain", index);
  require(std::size_t{connection.first_use} + connection.uses <= plan.uses.size(),
          "connection {} uses more than the plan lists", index);
}
}  // namespace

void check(const NetworkPlan& plan) {
  for (std::size_t link = 0; link < plan.links.size(); ++link) {
    require(plan.links[link].rate > Bandwidth::zero(), "link {} has no rate", link);
  }
  for (const NetworkPlan::Use& use : plan.uses) {
    require(use.link < plan.links.size() && use.flows > 0, "a path uses link {} of {}, {} times", use.link,
            plan.links.size(), use.flows);
  }
  for (const ConnectionId id : plan.connections.ids()) { check_connection(plan, id); }
}

Bandwidth rate_alone(const NetworkPlan& plan, const NetworkPlan::Connection& connection) {
  Bandwidth rate = connection.cap;
  for (std::uint32_t u = connection.first_use; u < connection.first_use + connection.uses; ++u) {
    rate = std::min(rate, plan.links[plan.uses[u].link].rate);
  }
  return rate;
}

Time injection_time(Bytes size, Bandwidth rate) {
  return rate == Bandwidth::max() ? Time::zero() : transfer_time(size, rate);
}

}  // namespace athanor
