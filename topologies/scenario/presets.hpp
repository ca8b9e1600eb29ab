#pragma once

#include <map>
#include <memory>
#include <string>

#include "sim/config/fields.hpp"
#include "topologies/hardware/gpu.hpp"
#include "topologies/hardware/network_switch.hpp"
#include "topologies/hardware/nic.hpp"
#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

class FileReader;

/// What the figures of a file of presets come from, by the short names that presets use: "what (where)".
using Sources = std::map<std::string, std::string>;

void read_sources(Fields& fields, Sources& sources);

struct LinkPreset {
  LinkKind kind = LinkKind::pcie;
  LinkSpec spec;
  Provenance provenance;
};
struct NodePreset {
  NodeConfig node;
  Provenance provenance;
};

/// Hardware by name.
struct Presets {
  std::map<std::string, LinkPreset> links;
  std::map<std::string, GpuPreset> gpus;
  std::map<std::string, NicPreset> nics;
  std::map<std::string, SwitchPreset> switches;
  std::map<std::string, NodePreset> nodes;
};

/// What links.json, gpus.json, nics.json, switches.json and nodes.json of a directory hold. Read once by a process, and
/// again where one of them has changed. Throws FileError when one cannot be read, ScenarioError with all that is wrong
/// in them. Thread-safe.
std::shared_ptr<const Presets> load_presets(const FileReader& files);

}  // namespace athanor
