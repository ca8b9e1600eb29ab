#include "tools/import/fabric/node_draft.hpp"

#include <algorithm>

#include "sim/config/fields.hpp"
#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

namespace {

GraphConfig graph_of(const FabricDraft& draft) {
  GraphConfig graph;
  const auto& devices = draft.devices();
  for (const FabricDraft::Device& device : devices) { graph.vertices.push_back({device.name, device.kind, {}}); }
  for (const auto& [a, b, link] : draft.cables()) {
    graph.links.push_back({{devices[a].name, devices[b].name},
                           link.rate,
                           link.usable == link.rate ? std::nullopt : std::optional(link.usable),
                           link.latency,
                           link.kind,
                           {}});
  }
  return graph;
}

void add_identity(const NodeIdentity& identity, NodeConfig& node) {
  if (identity.compute_capability) { node.compute_capability = Ratio{*identity.compute_capability, 10}; }
  if (!identity.gpu_direct) { node.gpu_direct = false; }
  if (!identity.peer_access) { node.peer_access = false; }
  const std::string& arch = identity.cpu.arch;
  if (arch == "x86_64" || arch == "arm64" || arch == "ppc64") { node.cpu = identity.cpu; }
}

}  // namespace

JsonValue node_json(const FabricDraft& draft, const std::string& name, const DraftPort& port) {
  NodeConfig node;
  node.name = name;
  node.graph = graph_of(draft);
  if (draft.identity()) { add_identity(*draft.identity(), node); }
  const auto is_nic = [](const FabricDraft::Device& device) { return device.kind == VertexKind::nic; };
  if (std::any_of(draft.devices().begin(), draft.devices().end(), is_nic)) {
    if (port.preset.empty()) {
      node.port = NetworkLink{.rate = port.rate, .latency = port.latency};
    } else {
      node.nic = NicConfig{.preset = port.preset, .figures = {}, .place = {}};
    }
  }
  return json_of(node);
}

}  // namespace athanor
