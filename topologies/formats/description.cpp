#include "topologies/formats/description.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/core.h>

#include "sim/format.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"
#include "topologies/routing/dependency_cycle.hpp"

namespace athanor {

namespace {

/// Routes looked at for the diameter: a second or two at most.
constexpr std::size_t kMostRoutes = 4'000'000;

/// Nodes of a generated fabric are alike, so the routes from one of them show all lengths; a list may hold anything.
ClusterDescription::Diameter diameter(const Cluster& cluster) {
  const std::size_t n = cluster.endpoints.size();
  const std::size_t sources = cluster.alike_from_every_node ? cluster.endpoints_per_node : n;
  const std::size_t step = sources * n <= kMostRoutes ? 1 : sources * n / kMostRoutes + 1;
  ClusterDescription::Diameter found{0, step > 1};
  std::vector<LinkId> path;
  for (std::size_t from = 0; from < sources; ++from) {
    for (std::size_t to = from % step; to < n; to += step) {
      path.clear();
      cluster.router->route({cluster.endpoints[from], cluster.endpoints[to], 0}, path);
      found.links = std::max(found.links, static_cast<std::uint32_t>(path.size()));
    }
  }
  return found;
}

std::string ratio_text(Ratio ratio) { return ratio.numerator == 0 ? "top" : fmt::format("{:.4g}:1", to_double(ratio)); }

/// "rail-optimized fat tree, NICs 0, 1, 2, 3; ranks use it".
std::string text_of(const NetworkSummary& network) {
  std::string text = network.kind;
  if (!network.nics.empty()) {
    text += fmt::format(", NIC{} {}", network.nics.size() == 1 ? "" : "s", joined(network.nics, ", "));
  }
  return network.used ? text + "; ranks use it" : text;
}

/// Nodes of several kinds may differ in either.
std::string per_node(const ClusterDescription& description) {
  if (description.endpoints_per_node == 0) { return "nodes differ"; }
  const bool differ =
      description.nics_per_node == 0 && description.vertices.at(static_cast<std::size_t>(VertexKind::nic)) > 0;
  const std::string nics = differ ? "NICs differ" : fmt::format("{} NICs per node", description.nics_per_node);
  return fmt::format("{} per node, {}", description.endpoints_per_node, nics);
}

/// Routes are written for so many pairs of endpoints at most: a file of some tens of megabytes.
constexpr std::size_t kMostPairs = 65'536;

JsonValue vertices_of(const Fabric& fabric) {
  JsonValue vertices = JsonValue::list();
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    vertices.push_back(JsonValue{{"name", fabric.name(VertexId{v})}, {"kind", name(fabric.vertex(VertexId{v}).kind)}});
  }
  return vertices;
}

JsonValue links_of(const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  JsonValue links = JsonValue::list();
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    const Link& link = fabric.link(LinkId{l});
    links.push_back(JsonValue{{"from", fabric.source(LinkId{l}).value},
                              {"to", fabric.target(LinkId{l}).value},
                              {"kind", name(link.kind)},
                              {"rate_bytes_per_s", link.rate.count()},
                              {"usable_bytes_per_s", link.usable.count()},
                              {"latency_ps", link.latency.count()}});
    if (link.down) { links.back()["down"] = true; }
    if (link.network > 0) { links.back()["network"] = cluster.networks[link.network - 1U].name; }
  }
  return links;
}

/// So many flows between two endpoints are looked at; equally long paths are hashed over, so that they tell them apart.
constexpr std::uint64_t kFlows = 32;

std::vector<LinkId> route(const Cluster& cluster, VertexId from, VertexId to, std::uint64_t flow) {
  std::vector<LinkId> path;
  cluster.router->route({from, to, flow}, path);
  return path;
}

JsonValue route_of(const Cluster& cluster, VertexId from, VertexId to) {
  const std::vector<LinkId> path = route(cluster, from, to, 0);
  bool by_flow = false;
  for (std::uint64_t flow = 1; flow < kFlows && !by_flow; ++flow) { by_flow = route(cluster, from, to, flow) != path; }
  JsonValue links = JsonValue::list();
  for (const LinkId link : path) { links.push_back(link.value); }
  return {{"from", from.value}, {"to", to.value}, {"links", std::move(links)}, {"by_flow", by_flow}};
}

JsonValue routes_of(const Cluster& cluster) {
  const std::size_t n = cluster.endpoints.size();
  if (n * n > kMostPairs) { return nullptr; }
  JsonValue routes = JsonValue::list();
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      if (from != to) { routes.push_back(route_of(cluster, from, to)); }
    }
  }
  return routes;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') { result += '\\'; }
    result += c;
  }
  return result + '"';
}

std::string_view shape(VertexKind kind) {
  switch (kind) {
    case VertexKind::gpu:
    case VertexKind::process:
    case VertexKind::host: return "box";
    case VertexKind::cpu:
    case VertexKind::memory: return "component";
    case VertexKind::nic: return "cds";
    case VertexKind::pcie_switch:
    case VertexKind::nvswitch:
    case VertexKind::leaf:
    case VertexKind::spine:
    case VertexKind::core:
    case VertexKind::router: return "hexagon";
    case VertexKind::custom: return "ellipse";
  }
  return "ellipse";
}

void add_devices(const Fabric& fabric, std::string& text) {
  std::map<std::uint32_t, std::vector<VertexId>> by_node;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) { by_node[fabric.vertex(VertexId{v}).node].emplace_back(v); }
  for (const auto& [node, devices] : by_node) {
    const bool boxed = node != kNoNode;
    if (boxed) { text += fmt::format("  subgraph cluster_{0} {{\n    label=\"node{0}\";\n", node); }
    for (const VertexId v : devices) {
      text +=
          fmt::format("    v{} [label={}, shape={}];\n", v.value, quoted(fabric.name(v)), shape(fabric.vertex(v).kind));
    }
    if (boxed) { text += "  }\n"; }
  }
}

/// Both directions of a cable are one edge; where they differ in rate, two arrows. What is down is dotted and red.
void add_cables(const Fabric& fabric, std::string& text) {
  using Drawn = std::tuple<std::uint32_t, std::uint32_t, std::int64_t, bool>;
  std::map<Drawn, std::uint32_t> unmatched;
  const auto style = [](bool down) { return down ? ", style=dotted, color=red" : ""; };
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    const std::uint32_t from = fabric.source(LinkId{l}).value;
    const std::uint32_t to = fabric.target(LinkId{l}).value;
    const std::int64_t rate = fabric.link(LinkId{l}).rate.count();
    const bool down = fabric.link(LinkId{l}).down;
    const auto twin = unmatched.find({to, from, rate, down});
    if (twin == unmatched.end() || twin->second == 0) {
      ++unmatched[{from, to, rate, down}];
      continue;
    }
    --twin->second;
    text += fmt::format("  v{} -> v{} [dir=none, label={}{}];\n", to, from, quoted(to_string(Bandwidth{rate})),
                        style(down));
  }
  for (const auto& [link, count] : unmatched) {
    const auto& [from, to, rate, down] = link;
    for (std::uint32_t i = 0; i < count; ++i) {
      text += fmt::format("  v{} -> v{} [label={}{}];\n", from, to, quoted(to_string(Bandwidth{rate})), style(down));
    }
  }
}

}  // namespace

ClusterDescription describe(const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  ClusterDescription found;
  found.summary = cluster.description;
  found.endpoints = static_cast<std::uint32_t>(cluster.endpoints.size());
  found.endpoints_per_node = cluster.endpoints_per_node;
  found.nics_per_node = cluster.nics_per_node;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    ++found.vertices.at(static_cast<std::size_t>(fabric.vertex(VertexId{v}).kind));
  }
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    ++found.links.at(static_cast<std::size_t>(fabric.link(LinkId{l}).kind));
  }
  found.diameter = diameter(cluster);
  for (const Cut& cut : natural_cuts(cluster)) {
    if (cut.inside == 1 && (found.injection == Bandwidth::zero() || cut.out < found.injection)) {
      found.injection = cut.out;
    }
  }
  for (const Cut& cut : half_cuts(cluster)) {
    if (found.bisection && found.bisection->bandwidth <= cut.out) { continue; }
    found.bisection = {cut.name, cut.out, std::min(cut.inside, found.endpoints - cut.inside)};
  }
  found.tiers = cluster.tiers;
  found.networks = cluster.networks;
  found.warnings = cluster.warnings;
  const std::string deadlock = deadlock_warning(fabric, dependency_cycle(cluster));
  if (!deadlock.empty()) { found.warnings.push_back(deadlock); }
  return found;
}

std::string to_text(const ClusterDescription& description) {
  std::string text = fmt::format("{}\n", description.summary);
  const auto line = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("  {:<25} {}\n", what, value);
  };
  line("endpoints", fmt::format("{} ({})", description.endpoints, per_node(description)));
  for (std::uint32_t kind = 0; kind < kVertexKinds; ++kind) {
    if (description.vertices.at(kind) == 0) { continue; }
    line(fmt::format("{} vertices", name(static_cast<VertexKind>(kind))),
         fmt::format("{}", description.vertices.at(kind)));
  }
  for (std::uint32_t kind = 0; kind < kLinkKinds; ++kind) {
    if (description.links.at(kind) == 0) { continue; }
    line(fmt::format("{} links", name(static_cast<LinkKind>(kind))), fmt::format("{}", description.links.at(kind)));
  }
  for (const NetworkSummary& network : description.networks) { line("fabric " + network.name, text_of(network)); }
  line("diameter",
       fmt::format("{}{} links", description.diameter.sampled ? "at least " : "", description.diameter.links));
  line("injection", fmt::format("{} out of one endpoint", to_string(description.injection)));
  if (description.bisection) {
    line("bisection", fmt::format("{} one way ({}, {} endpoints)", to_string(description.bisection->bandwidth),
                                  description.bisection->name, description.bisection->endpoints));
  }
  for (const TierSummary& tier : description.tiers) {
    line(fmt::format("{} oversubscription", tier.name),
         fmt::format("{} ({} switches)", ratio_text(tier.oversubscription), tier.switches));
  }
  for (const std::string& warning : description.warnings) { line("warning", warning); }
  return text;
}

JsonValue to_json(const ClusterDescription& description) {
  JsonValue vertices = JsonValue::object();
  for (std::uint32_t kind = 0; kind < kVertexKinds; ++kind) {
    if (description.vertices.at(kind) > 0) {
      vertices[std::string(name(static_cast<VertexKind>(kind)))] = description.vertices.at(kind);
    }
  }
  JsonValue links = JsonValue::object();
  for (std::uint32_t kind = 0; kind < kLinkKinds; ++kind) {
    if (description.links.at(kind) > 0) {
      links[std::string(name(static_cast<LinkKind>(kind)))] = description.links.at(kind);
    }
  }
  JsonValue tiers = JsonValue::list();
  for (const TierSummary& tier : description.tiers) {
    const bool top = tier.oversubscription.numerator == 0;
    tiers.push_back(JsonValue{{"name", tier.name},
                              {"switches", tier.switches},
                              {"oversubscription", top ? JsonValue() : JsonValue(to_double(tier.oversubscription))}});
  }
  JsonValue json{{"description", description.summary},
                 {"endpoints", description.endpoints},
                 {"endpoints_per_node", description.endpoints_per_node},
                 {"nics_per_node", description.nics_per_node},
                 {"vertices", vertices},
                 {"links", links},
                 {"diameter_links", description.diameter.links},
                 {"diameter_sampled", description.diameter.sampled},
                 {"injection_gbps", gigabytes_per_second(description.injection)},
                 {"tiers", tiers},
                 {"warnings", description.warnings}};
  for (const NetworkSummary& network : description.networks) {
    json["fabrics"].push_back(
        JsonValue{{"name", network.name}, {"kind", network.kind}, {"nics", network.nics}, {"used", network.used}});
  }
  if (description.bisection) {
    json["bisection"] = JsonValue{{"name", description.bisection->name},
                                  {"gbps", gigabytes_per_second(description.bisection->bandwidth)},
                                  {"endpoints", description.bisection->endpoints}};
  }
  json.sort_keys();
  return json;
}

JsonValue graph_to_json(const Cluster& cluster) {
  JsonValue endpoints = JsonValue::list();
  for (const VertexId v : cluster.endpoints) { endpoints.push_back(v.value); }
  JsonValue fabrics = JsonValue::list();
  for (const NetworkSummary& network : cluster.networks) {
    fabrics.push_back(
        JsonValue{{"name", network.name}, {"kind", network.kind}, {"nics", network.nics}, {"used", network.used}});
  }
  return {{"description", cluster.description},
          {"fabrics", std::move(fabrics)},
          {"vertices", vertices_of(*cluster.fabric)},
          {"links", links_of(cluster)},
          {"endpoints", std::move(endpoints)},
          {"picture", JsonValue{{"layout", cluster.picture.layout},
                                {"sizes", cluster.picture.sizes},
                                {"closed", cluster.picture.closed}}}};
}

JsonValue fabric_to_json(const Cluster& cluster) {
  JsonValue json = graph_to_json(cluster);
  json["routes"] = routes_of(cluster);
  return json;
}

std::string to_dot(const Cluster& cluster) {
  std::string text = fmt::format("digraph {} {{\n", quoted(cluster.description));
  add_devices(*cluster.fabric, text);
  add_cables(*cluster.fabric, text);
  return text + "}\n";
}

}  // namespace athanor
