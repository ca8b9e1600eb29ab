#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/json_value.hpp"
#include "tools/import/fabric/assumed_links.hpp"
#include "tools/import/fabric/nvidia_smi.hpp"

namespace athanor {

/// What `athanor import` makes clusters of.
enum class FabricFormat : std::uint8_t { nccl_topology, nvidia_smi, ibnetdiscover, slurm, slurm_yaml, htsim };

/// "nccl-topology", "nvidia-smi", ...
std::string_view name(FabricFormat format);
std::optional<FabricFormat> fabric_format(std::string_view name);
std::vector<std::string> fabric_format_names();

/// By how it begins; none where it is none of them.
std::optional<FabricFormat> recognised_fabric(std::string_view text);

/// What the user adds to a text that does not say it.
struct FabricHints {
  std::string name;  ///< of the machine; "" for the file's
  AssumedLinks links;
  MatrixHardware hardware;
  std::string topology;  ///< of a topology.yaml with several; "" for its default
};

struct ImportedFabric {
  JsonValue cluster;               ///< as a scenario's "cluster" has it; null where it is a graph
  std::string graph;               ///< as graph_text writes it for a scenario's "cluster"; else ""
  std::string summary;             ///< "8 GPUs, 2 CPUs, ...": for people
  std::vector<std::string> notes;  ///< what was assumed or left out
};

/// The scenario that has the cluster, ready to run and to be read. Takes the cluster out.
std::string scenario_text(const std::string& name, ImportedFabric& imported);

/// The cluster of a text; `file` is what problems name, and not to be used where there are problems. Time and memory
/// grow linearly with the text.
ImportedFabric import_fabric(const std::string& text, const std::string& file, FabricFormat format,
                             const FabricHints& hints, const Presets& presets, Problems& problems);

}  // namespace athanor
