#include "models/network/network.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {
void check_connection(const FlowGraph& graph, ConnectionId id) {
  const FlowGraph::Connection& connection = graph.connections[id];
  const std::uint32_t index = id.value;
  require(connection.cap > Bandwidth::zero(), "connection {} has no rate", index);
  require(connection.latency >= Time::zero() && connection.grain >= Bytes::zero(),
          "connection {} has a negative latency or grain", index);
  require(std::size_t{connection.first_use} + connection.uses + connection.beside <= graph.uses.size(),
          "connection {} uses more than the graph lists", index);
}
}  // namespace

void check(const FlowGraph& graph) {
  for (const LinkIndex link : graph.links.ids()) {
    require(graph.links[link].rate > Bandwidth::zero(), "link {} has no rate", link.value);
  }
  for (const FlowGraph::Use& use : graph.uses) {
    require(use.link < graph.links.next() && (use.flows > 0 || graph.links[use.link].slack),
            "a path uses link {} of {}, {} times", use.link.value, graph.links.size(), use.flows);
  }
  for (const ConnectionId id : graph.connections.ids()) { check_connection(graph, id); }
}

Bandwidth rate_alone(const FlowGraph& graph, const FlowGraph::Connection& connection) {
  Bandwidth rate = connection.cap;
  for (std::uint32_t u = connection.first_use; u < connection.first_use + connection.uses; ++u) {
    rate = std::min(rate, graph.links[graph.uses[u].link].rate);
  }
  return rate;
}

Time injection_time(Bytes size, Bandwidth rate) {
  return rate == Bandwidth::max() ? Time::zero() : transfer_time(size, rate);
}

}  // namespace athanor
