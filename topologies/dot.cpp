#include <iterator>
#include <map>

#include <fmt/core.h>

#include "sim/format.hpp"
#include "topologies/cluster.hpp"
#include "topologies/description.hpp"

namespace athanor {

namespace {

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

std::string to_dot(const Cluster& cluster) {
  std::string text = fmt::format("digraph {} {{\n", quoted(cluster.description));
  add_devices(*cluster.fabric, text);
  add_cables(*cluster.fabric, text);
  return text + "}\n";
}

}  // namespace athanor
