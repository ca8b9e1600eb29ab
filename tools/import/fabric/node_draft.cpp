#include "tools/import/fabric/node_draft.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "sim/format.hpp"

namespace athanor {

nlohmann::ordered_json node_json(const FabricDraft& draft, const std::string& name, const DraftPort& port) {
  nlohmann::ordered_json node{{"name", name}, {"graph", graph_json(draft)}};
  const auto& devices = draft.devices();
  const bool has_nic =
      std::any_of(devices.begin(), devices.end(), [](const auto& device) { return device.kind == VertexKind::nic; });
  if (!has_nic) { return node; }
  if (port.preset.empty()) {
    node["port"] = {{"rate", to_string(port.rate)}, {"latency", to_string(port.latency)}};
  } else {
    node["nic"] = port.preset;
  }
  return node;
}

}  // namespace athanor
