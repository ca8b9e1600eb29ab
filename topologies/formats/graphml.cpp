#include <sstream>

#include <boost/graph/graphml.hpp>
#include <boost/property_map/function_property_map.hpp>

#include "sim/printable.hpp"
#include "topologies/cluster.hpp"
#include "topologies/fabric_graph.hpp"
#include "topologies/formats/exporters.hpp"

namespace athanor {

std::string to_graphml(const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  const FabricGraph::Base& graph = fabric.graph();
  using Edge = FabricGraph::Base::edge_descriptor;
  boost::dynamic_properties properties;
  const auto of_vertex = [&](const char* key, auto value) {
    properties.property(key, boost::make_function_property_map<std::uint32_t>(value));
  };
  const auto of_edge = [&](const char* key, auto value) {
    const auto by_edge = [&graph, value](const Edge& edge) { return value(graph[edge]); };
    properties.property(key, boost::make_function_property_map<Edge>(by_edge));
  };
  // XML holds no control characters, escaped or not.
  of_vertex("name", [&](std::uint32_t v) { return printable(fabric.name(VertexId{v})); });
  of_vertex("kind", [&](std::uint32_t v) { return std::string(name(graph[v].kind)); });
  of_vertex("node", [&](std::uint32_t v) { return graph[v].node == kNoNode ? -1L : static_cast<long>(graph[v].node); });
  of_vertex("index", [&](std::uint32_t v) { return static_cast<long>(graph[v].index); });
  of_edge("kind", [](const Link& link) { return std::string(name(link.kind)); });
  of_edge("rate_bytes_per_s", [](const Link& link) { return static_cast<long>(link.rate.count()); });
  of_edge("usable_bytes_per_s", [](const Link& link) { return static_cast<long>(link.usable.count()); });
  of_edge("latency_ps", [](const Link& link) { return static_cast<long>(link.latency.count()); });
  std::ostringstream text;
  boost::write_graphml(text, graph, boost::get(boost::vertex_index, graph), properties, true);
  return text.str();
}

}  // namespace athanor
