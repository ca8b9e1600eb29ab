#include "topologies/kinds/fabric_settings.hpp"

#include <nlohmann/json.hpp>

#include "sim/config/object_reader.hpp"
#include "topologies/kinds/catalog.hpp"
#include "topologies/kinds/fabric_kind.hpp"
#include "topologies/node/node_spec.hpp"

namespace athanor {

namespace {

/// What fabrics of all kinds have.
void read_common(ObjectReader& reader, FabricSettings& fabric) {
  std::vector<std::uint32_t> nics;
  reader.optional("nics", nics, "The NICs of every node that are on it, counted from 0; absent: all",
                  {0, kMaxDevicesPerNode});
  if (reader.has("nics")) { fabric.nics = nics; }
}

}  // namespace

void read(ObjectReader& reader, FabricSettings& fabric) {
  std::vector<ObjectReader::Kind> kinds;
  for (const Topology& topology : topologies()) {
    kinds.push_back({topology.name, topology.summary, [&](ObjectReader& fields) {
                       std::unique_ptr<FabricKind> kind = topology.make();
                       kind->read(fields);
                       if (!fields.describing()) { fabric.kind = std::move(kind); }
                     }});
  }
  reader.choice("kind", "How nodes are joined", kinds);
  read_common(reader, fabric);
  if (reader.describing()) { return; }
  fabric.place = reader.place();
  fabric.nics_place = reader.place("nics");
}

std::vector<std::string> keys_of(const Topology& topology) {
  const nlohmann::json schema = describe_schema("", [&](ObjectReader& reader) {
    FabricSettings fabric;
    topology.make()->read(reader);
    read_common(reader, fabric);
  });
  std::vector<std::string> keys;
  for (const auto& [key, described] : schema["properties"].items()) { keys.push_back(key); }
  return keys;
}

}  // namespace athanor
