#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/network.hpp"
#include "models/software/costs.hpp"
#include "topologies/fabric/fabric.hpp"
#include "topologies/fabric/router.hpp"

namespace athanor {

/// The routes of connections that are opened one after the other. Where the router has several paths for each, the
/// global choice of UGAL-G (Kim, Dally, Scott, Abts, ISCA'08) is made when the connection is opened, with flows in
/// place of queues: the path of the least (flows on its busiest link, this one included) x (its links), where links
/// that all paths share do not count. Of equal ones the first, which are the shortest. The choice stays.
class AdaptiveRoutes {
 public:
  /// Borrows both.
  AdaptiveRoutes(const Router& router, const Fabric& fabric);

  /// Appends the links, as Router::route does; `request.path` is not looked at.
  void open(RouteRequest request, std::vector<LinkId>& path);

 private:
  using Path = std::vector<LinkId>;
  std::uint64_t load(const Path& path, const std::vector<Path>& all) const;

  const Router& router_;
  std::vector<std::uint32_t> flows_;  // by link; empty where there is nothing to choose
};

struct Cluster;

/// Connections over the links of a fabric, with a path for each of their queue pairs: what a network is made from.
/// Either every link and every connection, or (of a folded schedule) one that stands for each class of equal ones.
struct FabricConnections {
  FlowGraph graph;                                  ///< of queue pairs, over links that some path crosses
  IdVector<LinkIndex, LinkId> links;                ///< by link of `graph`: the link, or one member of its class
  IdVector<LinkIndex, std::uint32_t> link_members;  ///< by link of `graph`: how many links it stands for
  IdVector<LinkIndex, LinkId> all_links;            ///< where links stand for classes: every link; else empty
  IdVector<LinkIndex, LinkIndex> class_of_link;     ///< by entry of `all_links`: the link of `graph` that stands for it
  std::uint32_t queue_pairs = 1;  ///< of connection c are [c * queue_pairs, (c + 1) * queue_pairs) of `graph`

  std::size_t count() const { return graph.connections.size() / queue_pairs; }
  IdRange<ConnectionId> ids() const { return {ConnectionId{0}, ConnectionId{static_cast<std::uint32_t>(count())}}; }
  std::span<const FlowGraph::Connection> pairs_of(ConnectionId connection) const {
    return {graph.connections.begin() + std::ptrdiff_t{connection.value} * queue_pairs, queue_pairs};
  }
  /// The links that a queue pair crosses, in their order.
  std::span<const FlowGraph::Use> path_of(const FlowGraph::Connection& pair) const {
    return std::span(graph.uses).subspan(pair.first_use, pair.uses);
  }
  /// Those by which slack links are crossed: on a path of its own, or those beside that of a class.
  template <class Visit>
  void each_slack_use(const FlowGraph::Connection& pair, Visit visit) const {
    for (const FlowGraph::Use& use : std::span(graph.uses).subspan(pair.first_use, pair.uses + pair.beside)) {
      if (graph.links[use.link].slack && use.flows > 0) { visit(use); }
    }
  }
  /// Of the connection's slowest queue pair.
  Time latency(ConnectionId connection) const;
};

/// Queue pairs of a connection whose NICs no library chooses: so many, rounded up to a multiple of the NICs that a GPU
/// has to itself, so that each message is striped over all of these (as UCX and MPI libraries do with several rails).
std::uint32_t striped(std::uint32_t queue_pairs, const Cluster& cluster);

/// Opens connections one after the other. Links get their numbers in the order in which paths first cross them.
class ConnectionBuilder {
 public:
  /// Borrows the cluster. Requires at least one queue pair.
  ConnectionBuilder(const Cluster& cluster, std::uint32_t queue_pairs);

  /// Opens a connection and returns its number. `flow` tells flows between the same two apart. Throws
  /// SimulationError("no-route").
  ConnectionId add(VertexId from, VertexId to, std::uint64_t flow, const ConnectionCost& cost = {}) {
    const ConnectionId number = opened_.ids().last;
    add({from, to, flow}, [&](std::span<const LinkId>) { return cost; });
    return number;
  }
  /// Opens a connection whose cost hangs on its path: `cost_of` is told the links of queue pair 0 and returns what the
  /// whole connection costs, which is returned. Queue pair 0 has the flow of the request, the others have one of their
  /// own each. The request's channel and those after it choose the NICs of the pairs, where it names none; where it
  /// names several ports, the pairs take them in turn. Throws SimulationError("no-route").
  template <class CostOf>
  ConnectionCost add(const RouteRequest& request, const CostOf& cost_of) {
    ConnectionCost cost;
    for (std::uint32_t pair = 0; pair < opened_.queue_pairs; ++pair) {
      open(request, pair);
      if (pair == 0) { cost = cost_of(std::span<const LinkId>(path_)); }
      add_pair(cost);
    }
    return cost;
  }

  const FabricConnections& opened() const { return opened_; }
  FabricConnections take() { return std::move(opened_); }
  /// Forgets what was opened; links keep their numbers.
  void clear_connections() {
    opened_.graph.connections.resize(0);
    opened_.graph.uses.clear();
  }

 private:
  void open(RouteRequest request, std::uint32_t pair);
  void add_pair(const ConnectionCost& cost);
  LinkIndex number(LinkId link);

  const Fabric& fabric_;
  AdaptiveRoutes routes_;
  FabricConnections opened_;
  std::vector<LinkId> path_;
  std::vector<LinkIndex> numbers_;  ///< in the graph, by link of the fabric
};

}  // namespace athanor
