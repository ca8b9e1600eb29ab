#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/printable.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/exporters.hpp"

namespace athanor {

namespace {

/// XML holds no control characters, escaped or not.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

constexpr std::string_view kGraphHead = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="key0" for="node" attr.name="index" attr.type="long" />
  <key id="key1" for="node" attr.name="kind" attr.type="string" />
  <key id="key2" for="edge" attr.name="kind" attr.type="string" />
  <key id="key3" for="edge" attr.name="latency_ps" attr.type="long" />
  <key id="key4" for="node" attr.name="name" attr.type="string" />
  <key id="key5" for="node" attr.name="node" attr.type="long" />
  <key id="key6" for="edge" attr.name="rate_bytes_per_s" attr.type="long" />
  <key id="key7" for="edge" attr.name="usable_bytes_per_s" attr.type="long" />
  <graph id="G" edgedefault="directed" parse.nodeids="canonical" parse.edgeids="canonical" parse.order="nodesfirst">
)";

/// "<data>" elements, each with the number of its key in kGraphHead.
template <class... Values>
std::string fields(const std::pair<int, Values>&... values) {
  return (fmt::format("      <data key=\"key{}\">{}</data>\n", values.first, values.second) + ...);
}

void add_graph_node(const Fabric& fabric, VertexId v, std::string& text) {
  const Vertex& device = fabric.vertex(v);
  const std::int64_t node = device.node == kNoNode ? -1 : std::int64_t{device.node};
  fmt::format_to(std::back_inserter(text), "    <node id=\"n{}\">\n{}    </node>\n", v.value,
                 fields(std::pair(0, device.index), std::pair(1, name(device.kind)),
                        std::pair(4, escaped(fabric.name(v))), std::pair(5, node)));
}

void add_graph_edge(const Fabric& fabric, LinkId l, std::string& text) {
  const Link& link = fabric.link(l);
  fmt::format_to(std::back_inserter(text), "    <edge id=\"e{}\" source=\"n{}\" target=\"n{}\">\n{}    </edge>\n",
                 l.value, fabric.source(l).value, fabric.target(l).value,
                 fields(std::pair(2, name(link.kind)), std::pair(3, link.latency.count()),
                        std::pair(6, link.rate.count()), std::pair(7, link.usable.count())));
}

void add_routes(const Cluster& cluster, std::string& text) {
  const Fabric& fabric = *cluster.fabric;
  std::vector<LinkId> path;
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      if (from == to) { continue; }
      path.clear();
      cluster.router->route({from, to, 0}, path);
      fmt::format_to(std::back_inserter(text), "    <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">",
                     escaped(fabric.name(from)), escaped(fabric.name(to)));
      for (const LinkId link : path) { fmt::format_to(std::back_inserter(text), "<link_ctn id=\"l{}\"/>", link.value); }
      fmt::format_to(std::back_inserter(text), "</route>\n");
    }
  }
}

}  // namespace

std::string to_graphml(const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}", kGraphHead);
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) { add_graph_node(fabric, VertexId{v}, text); }
  for (std::uint32_t l = 0; l < fabric.links(); ++l) { add_graph_edge(fabric, LinkId{l}, text); }
  fmt::format_to(out, "  </graph>\n</graphml>\n");
  return text;
}

std::string to_simgrid(const Cluster& cluster) {
  if (cluster.endpoints.size() > kMostSimgridHosts) {
    throw ScenarioError(Problem{"too-large",
                                fmt::format("a platform has a route for every two of {} endpoints, and {} are the most",
                                            cluster.endpoints.size(), kMostSimgridHosts),
                                {},
                                "export a smaller cluster"});
  }
  const Fabric& fabric = *cluster.fabric;
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                 "<platform version=\"4.1\">\n  <zone id=\"athanor\" routing=\"Full\">\n");
  for (const VertexId host : cluster.endpoints) {
    fmt::format_to(out, "    <host id=\"{}\" speed=\"1Gf\"/>\n", escaped(fabric.name(host)));
  }
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    const Link& link = fabric.link(LinkId{l});
    fmt::format_to(out, "    <link id=\"l{}\" bandwidth=\"{}Bps\" latency=\"{}ps\"/>\n", l, link.usable.count(),
                   link.latency.count());
  }
  add_routes(cluster, text);
  fmt::format_to(out, "  </zone>\n</platform>\n");
  return text;
}

}  // namespace athanor
