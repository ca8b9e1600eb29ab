#include "models/network/connections.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

AdaptiveRoutes::AdaptiveRoutes(const Router& router, const Fabric& fabric)
    : router_(router), flows_(router.paths() > 1 ? fabric.links() : 0, 0) {}

std::uint64_t AdaptiveRoutes::load(const Path& path, const std::vector<Path>& all) const {
  std::uint64_t busiest = 0;
  std::uint64_t links = 0;
  for (const LinkId link : path) {
    const bool shared = std::all_of(all.begin(), all.end(), [&](const Path& other) {
      return std::find(other.begin(), other.end(), link) != other.end();
    });
    if (shared) { continue; }
    busiest = std::max<std::uint64_t>(busiest, flows_[link.value]);
    ++links;
  }
  return (busiest + 1) * links;
}

void AdaptiveRoutes::open(RouteRequest request, std::vector<LinkId>& path) {
  request.path = 0;
  if (flows_.empty()) {
    router_.route(request, path);
    return;
  }
  std::vector<Path> all(router_.paths());
  for (; request.path < all.size(); ++request.path) { router_.route(request, all[request.path]); }
  const auto chosen = std::min_element(all.begin(), all.end(),
                                       [&](const Path& a, const Path& b) { return load(a, all) < load(b, all); });
  for (const LinkId link : *chosen) { ++flows_[link.value]; }
  path.insert(path.end(), chosen->begin(), chosen->end());
}

namespace {
constexpr LinkIndex kNone{UINT32_MAX};
}  // namespace

Time FabricConnections::latency(ConnectionId connection) const {
  Time longest;
  for (const FlowGraph::Connection& pair : pairs_of(connection)) { longest = std::max(longest, pair.latency); }
  return longest;
}

std::uint32_t striped(std::uint32_t queue_pairs, const Cluster& cluster) {
  const std::uint32_t nics = cluster.nics_per_endpoint;
  return (queue_pairs + nics - 1) / nics * nics;
}

ConnectionBuilder::ConnectionBuilder(const Cluster& cluster, std::uint32_t queue_pairs)
    : fabric_(*cluster.fabric), routes_(*cluster.router, *cluster.fabric), numbers_(cluster.fabric->links(), kNone) {
  require(queue_pairs > 0, "connections of no queue pair");
  opened_.queue_pairs = queue_pairs;
}

void ConnectionBuilder::open(RouteRequest request, std::uint32_t pair) {
  path_.clear();
  if (pair > 0) { request.flow = join_hash(request.flow, pair); }
  request.channel += pair;
  if (request.nics.out != NicChoice::kAny) { request.nics.out += pair % request.nics.out_ports; }
  if (request.nics.in != NicChoice::kAny) { request.nics.in += pair % request.nics.in_ports; }
  routes_.open(request, path_);
}

LinkIndex ConnectionBuilder::number(LinkId link) {
  LinkIndex& number = numbers_[link.value];
  if (number == kNone) {
    number = opened_.links.push_back(link);
    opened_.link_members.push_back(1);
    opened_.graph.links.push_back({fabric_.link(link).usable});
  }
  return number;
}

/// A share of what the whole connection may take, and of its first grain, on the present path.
void ConnectionBuilder::add_pair(const ConnectionCost& cost) {
  Time latency = cost.latency;
  FlowGraph& graph = opened_.graph;
  const auto first_use = static_cast<std::uint32_t>(graph.uses.size());
  for (const LinkId link : path_) {
    latency += fabric_.link(link).latency;
    graph.uses.push_back({number(link), 1});
  }
  const bool capped = cost.cap != Bandwidth::max();
  const Bandwidth cap = capped ? std::max(cost.cap / opened_.queue_pairs, Bandwidth{1}) : cost.cap;
  const Bytes grain{ceil_div(cost.grain.count(), opened_.queue_pairs)};
  graph.connections.push_back({latency, cap, grain, first_use, static_cast<std::uint32_t>(path_.size())});
}

}  // namespace athanor
