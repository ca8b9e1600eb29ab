#include "models/network/max_min_shares.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/network/network.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {
constexpr Bandwidth kFastest{4'000'000'000'000'000};
}

MaxMinShares::MaxMinShares(const FlowGraph& graph, Ratio leeway) : lenient_(leeway > Ratio{0, 1}) {
  check(graph);
  require(leeway >= Ratio{0, 1} && leeway < Ratio{1, 1}, "a leeway of {}", to_double(leeway));
  add_links(graph, leeway);
  flows_.reserve(graph.connections.size());
  standing_.reserve(graph.connections.size());
  limits_.reserve(graph.connections.size());
  holder_.assign(graph.connections.size(), kNoLink);
  next_waiting_.assign(graph.connections.size(), kNoConnection);
  uses_.reserve(graph.uses.size());
  for (const FlowGraph::Connection& connection : graph.connections) { add_flow(graph, connection); }
  add_members();
}

void MaxMinShares::add_links(const FlowGraph& graph, Ratio leeway) {
  links_.resize(graph.links.size());
  for (const LinkIndex l : links_.ids()) {
    const Bandwidth rate = graph.links[l].rate;
    if (rate > kFastest) {
      throw SimulationError(
          "link-too-fast", fmt::format("a link of {} bytes/s is faster than the flow network can share out, {} bytes/s",
                                       rate.count(), kFastest.count()));
    }
    links_[l].capacity = rate.count() * kFinePerByte;
    links_[l].level = kNoLevel;
    if (lenient_) { leeways_.push_back({.most = scaled_down(rate, leeway).count() * kFinePerByte}); }
  }
}

void MaxMinShares::add_flow(const FlowGraph& graph, const FlowGraph::Connection& connection) {
  Flow flow;
  flow.first_use = static_cast<std::uint32_t>(uses_.size());
  for (std::uint32_t u = connection.first_use; u < connection.first_use + connection.uses; ++u) {
    if (graph.links[graph.uses[u].link].slack) { continue; }
    const auto same = std::find_if(uses_.begin() + flow.first_use, uses_.end(),
                                   [&](const Use& use) { return use.link == graph.uses[u].link; });
    if (same != uses_.end()) {
      same->flows += graph.uses[u].flows;
    } else {
      uses_.push_back({graph.uses[u].link, graph.uses[u].flows});
    }
  }
  flow.uses = static_cast<std::uint32_t>(uses_.size()) - flow.first_use;
  FineRate links_give = kNoLevel;
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    links_give = std::min(links_give, links_[uses_[u].link].capacity / uses_[u].flows);
  }
  const FineRate cap = std::min(connection.cap, kFastest).count() * kFinePerByte;
  flows_.push_back(flow);
  limits_.push_back({.ceiling = std::min(cap, links_give)});
  standing_.push_back({.capped = cap < links_give});
}

void MaxMinShares::add_members() {
  for (const Use& use : uses_) { ++links_[use.link].first; }
  std::uint32_t end = 0;
  for (Link& link : links_) { link.first = end += link.first; }
  members_.resize(uses_.size());
  places_.resize(uses_.size());
  for (ConnectionId c = flows_.next(); c.value-- > 0;) {
    const Flow& flow = flows_[c];
    for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
      places_[u] = --links_[uses_[u].link].first;
      members_[places_[u]] = {c, u, uses_[u].flows};
    }
  }
}

void MaxMinShares::want(ConnectionId connection, bool wanted) {
  limits_[connection].wanted = wanted;
  toggled_.push_back(connection);
}

void MaxMinShares::swap_members(std::uint32_t a, std::uint32_t b) {
  std::swap(members_[a], members_[b]);
  places_[members_[a].use] = a;
  places_[members_[b].use] = b;
}

void MaxMinShares::enter(ConnectionId connection) {
  const Flow& flow = flows_[connection];
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    Link& link = links_[uses_[u].link];
    swap_members(places_[u], link.first + link.active++);
    link.flows += uses_[u].flows;
  }
}

void MaxMinShares::leave(ConnectionId connection) {
  Flow& flow = flows_[connection];
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    Link& link = links_[uses_[u].link];
    swap_members(places_[u], link.first + --link.active);
    link.flows -= uses_[u].flows;
    link.used -= flow.rate * uses_[u].flows;
    if (link.active == 0) { link.level = kNoLevel; }
  }
  flow.rate = 0;
}

/// Whether the flow can have its ceiling without changing anything else. On a link that others use, a unit is left
/// for each flow: then the link's level stays above the rate of each of them at every stage, rounding included.
bool MaxMinShares::fits(ConnectionId connection) const {
  const Flow& flow = flows_[connection];
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    const Link& link = links_[uses_[u].link];
    const FineRate wanted = limits_[connection].ceiling * uses_[u].flows + link.flows + uses_[u].flows;
    if (link.active == 0) { continue; }
    if (link.used + wanted > link.capacity || limits_[connection].ceiling > link.level) { return false; }
  }
  return true;
}

/// Full links that others are on hold those back, who gain by its leaving.
void MaxMinShares::stop_now(ConnectionId connection) {
  leave(connection);
  const Flow& flow = flows_[connection];
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    if (is_full(uses_[u].link)) { relieved_.push_back(uses_[u].link); }
  }
}

/// As far as their leeway allows it.
void MaxMinShares::let_relieved_be() {
  const std::size_t relieved = relieved_.size();
  std::erase_if(relieved_, [this](LinkIndex l) { return !is_overdue(l); });
  let_be_ += relieved - relieved_.size();
}

void MaxMinShares::start_beside(ConnectionId connection) {
  enter(connection);
  Flow& flow = flows_[connection];
  flow.rate = limits_[connection].ceiling;
  holder_[connection] = kNoLink;
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    Link& link = links_[uses_[u].link];
    link.used += flow.rate * uses_[u].flows;
    if (link.active == 1 && link.capacity - link.used < uses_[u].flows) { link.level = flow.rate; }
  }
  changed_.push_back(connection);
}

void MaxMinShares::snapshot(std::vector<std::int64_t>& state) const {
  if (!lenient_) { return; }
  for (const Link& link : links_) { state.push_back(link.level); }
}

const std::vector<ConnectionId>& MaxMinShares::update() {
  changed_.clear();
  for (const ConnectionId c : toggled_) {
    if (limits_[c].wanted || !limits_[c].active) { continue; }
    limits_[c].active = false;
    stop_now(c);
  }
  if (lenient_) { let_relieved_be(); }
  for (const ConnectionId c : toggled_) {
    if (!limits_[c].wanted || limits_[c].active) { continue; }
    limits_[c].active = true;
    if (fits(c)) {
      start_beside(c);
    } else {
      starting_.push_back(c);
    }
  }
  toggled_.clear();
  if (!starting_.empty() || !relieved_.empty()) { refill(); }
  return changed_;
}

}  // namespace athanor
