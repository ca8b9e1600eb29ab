#include "tools/import/fabric/node_draft.hpp"

#include <algorithm>

#include "sim/format.hpp"

namespace athanor {

namespace {

void add_identity(const NodeIdentity& identity, JsonValue& node) {
  if (identity.compute_capability) { node["compute_capability"] = *identity.compute_capability / 10.0; }
  if (!identity.gpu_direct) { node["gpu_direct"] = false; }
  if (!identity.peer_access) { node["peer_access"] = false; }
  const CpuIdentity& cpu = identity.cpu;
  if (cpu.arch != "x86_64" && cpu.arch != "arm64" && cpu.arch != "ppc64") { return; }
  node["cpu"] = JsonValue{{"arch", cpu.arch}};
  if (!cpu.vendor.empty()) { node["cpu"]["vendor"] = cpu.vendor; }
  if (cpu.family > 0) { node["cpu"]["family"] = cpu.family; }
  if (cpu.model > 0) { node["cpu"]["model"] = cpu.model; }
}

}  // namespace

JsonValue node_json(const FabricDraft& draft, const std::string& name, const DraftPort& port) {
  JsonValue node{{"name", name}, {"graph", graph_json(draft)}};
  const auto& devices = draft.devices();
  if (draft.identity()) { add_identity(*draft.identity(), node); }
  const bool has_nic =
      std::any_of(devices.begin(), devices.end(), [](const auto& device) { return device.kind == VertexKind::nic; });
  if (!has_nic) { return node; }
  if (port.preset.empty()) {
    node["port"] = JsonValue{{"rate", to_string(port.rate)}, {"latency", to_string(port.latency)}};
  } else {
    node["nic"] = port.preset;
  }
  return node;
}

}  // namespace athanor
