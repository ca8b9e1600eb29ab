#include "models/network/max_min_shares.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/network/network.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {
constexpr Bandwidth kFastest{4'000'000'000'000'000};
}

MaxMinShares::MaxMinShares(const FlowGraph& graph) {
  check(graph);
  add_links(graph);
  flows_.reserve(graph.connections.size());
  standing_.reserve(graph.connections.size());
  limits_.reserve(graph.connections.size());
  holder_.assign(graph.connections.size(), kNoLink);
  next_waiting_.assign(graph.connections.size(), kNoConnection);
  uses_.reserve(graph.uses.size());
  for (const FlowGraph::Connection& connection : graph.connections) { add_flow(graph, connection); }
  add_members();
}

void MaxMinShares::add_links(const FlowGraph& graph) {
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
    if (link.active != 0 && link.used + wanted > link.capacity) { return false; }
  }
  return true;
}

/// Whether some link of the flow holds other flows back, which would gain by its leaving.
bool MaxMinShares::limits_others(const Flow& flow) const {
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    const Link& link = links_[uses_[u].link];
    if (link.level != kNoLevel && link.active > 1) { return true; }
  }
  return false;
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

const std::vector<ConnectionId>& MaxMinShares::update() {
  changed_.clear();
  for (const ConnectionId c : toggled_) {
    if (limits_[c].wanted || !limits_[c].active) { continue; }
    limits_[c].active = false;
    if (limits_others(flows_[c])) {
      stopping_.push_back(c);
    } else {
      leave(c);
    }
  }
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
  if (!starting_.empty() || !stopping_.empty()) { refill(); }
  return changed_;
}

}  // namespace athanor
