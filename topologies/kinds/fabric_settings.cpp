#include "topologies/kinds/fabric_settings.hpp"

#include <nlohmann/json.hpp>

#include "sim/config/fields.hpp"
#include "topologies/kinds/catalog.hpp"
#include "topologies/kinds/fabric_kind.hpp"
#include "topologies/node/node_spec.hpp"

namespace athanor {

namespace {

/// What fabrics of all kinds have.
void read_common(Fields& fields, FabricSettings& fabric) {
  std::vector<std::uint32_t> nics;
  fields.optional("nics", nics, "The NICs of every node that are on it, counted from 0; absent: all",
                  {0, kMaxDevicesPerNode});
  if (fields.has("nics")) { fabric.nics = nics; }
}

}  // namespace

void visit(Fields& fields, FabricSettings& fabric) {
  std::vector<Fields::Kind> kinds;
  for (const Topology& topology : topologies()) {
    kinds.push_back({topology.name, topology.summary, [&](Fields& inner) {
                       std::unique_ptr<FabricKind> kind = topology.make();
                       kind->visit(inner);
                       fabric.kind = std::move(kind);
                     }});
  }
  fields.choice("kind", "How nodes are joined", kinds);
  read_common(fields, fabric);
  fabric.place = fields.place();
  fabric.nics_place = fields.place("nics");
}

std::vector<std::string> keys_of(const Topology& topology) {
  const nlohmann::json schema = describe_schema("", [&](Fields& fields) {
    FabricSettings fabric;
    topology.make()->visit(fields);
    read_common(fields, fabric);
  });
  std::vector<std::string> keys;
  for (const auto& [key, described] : schema["properties"].items()) { keys.push_back(key); }
  return keys;
}

}  // namespace athanor
