#include <iterator>

#include <fmt/format.h>

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

void add_routes(const Cluster& cluster, fmt::memory_buffer& text) {
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

std::string to_simgrid(const Cluster& cluster) {
  if (cluster.endpoints.size() > kMostSimgridHosts) {
    throw ScenarioError(Problem{"too-large",
                                fmt::format("a platform has a route for every two of {} endpoints, and {} are the most",
                                            cluster.endpoints.size(), kMostSimgridHosts),
                                {},
                                "export a smaller cluster"});
  }
  const Fabric& fabric = *cluster.fabric;
  fmt::memory_buffer text;
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
  return fmt::to_string(text);
}

}  // namespace athanor
