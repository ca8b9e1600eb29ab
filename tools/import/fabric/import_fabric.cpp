#include "tools/import/fabric/import_fabric.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include <fmt/core.h>

#include "sim/words.hpp"
#include "tools/import/fabric/htsim_topology.hpp"
#include "tools/import/fabric/infiniband.hpp"
#include "tools/import/fabric/nccl_xml.hpp"
#include "tools/import/fabric/slurm_tree.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

constexpr std::array kFormats{FabricFormat::nccl_topology, FabricFormat::nvidia_smi, FabricFormat::ibnetdiscover,
                              FabricFormat::slurm,         FabricFormat::slurm_yaml, FabricFormat::htsim};
/// A format shows within so many bytes.
constexpr std::size_t kLookedAt = 1U << 16U;
/// A switch of InfiniBand (130 ns of a QM8700) and ten metres of fibre.
constexpr Time kInfinibandLatency{180'000};

std::string count_of(const FabricDraft& draft, VertexKind kind, std::string_view what) {
  const auto& devices = draft.devices();
  const auto count = std::count_if(devices.begin(), devices.end(), [&](const auto& each) { return each.kind == kind; });
  return count == 0 ? "" : fmt::format("{} {}{}", count, what, count == 1 ? "" : what.ends_with('h') ? "es" : "s");
}

std::string summary_of(const FabricDraft& draft) {
  std::vector<std::string> parts;
  constexpr std::array<std::pair<VertexKind, std::string_view>, 9> kWords{{{VertexKind::gpu, "GPU"},
                                                                           {VertexKind::host, "host"},
                                                                           {VertexKind::nvswitch, "NVSwitch"},
                                                                           {VertexKind::cpu, "CPU"},
                                                                           {VertexKind::pcie_switch, "PCIe switch"},
                                                                           {VertexKind::nic, "NIC"},
                                                                           {VertexKind::leaf, "leaf switch"},
                                                                           {VertexKind::spine, "spine switch"},
                                                                           {VertexKind::core, "core switch"}}};
  for (const auto& [kind, word] : kWords) {
    if (std::string part = count_of(draft, kind, word); !part.empty()) { parts.push_back(std::move(part)); }
  }
  return fmt::format("{}; {} links", joined(parts, ", "), draft.cables().size());
}

/// Reads with one of the importers.
class Import {
 public:
  Import(const std::string& text, const std::string& file, const FabricHints& hints, const Presets& presets,
         FabricDraft& draft)
      : text_(text), file_(file), hints_(hints), presets_(presets), draft_(draft) {}

  Json cluster(FabricFormat format) {
    switch (format) {
      case FabricFormat::nccl_topology: return node(import_nccl_xml(text_, file_, draft_));
      case FabricFormat::nvidia_smi: return node(import_nvidia_smi(text_, hints_.hardware, presets_, draft_));
      case FabricFormat::ibnetdiscover:
        import_ibnetdiscover(text_, hints_.links.latency.value_or(kInfinibandLatency), draft_);
        if (!hints_.links.latency) {
          draft_.note("each link takes 180 ns, the switch included; --link-latency changes it");
        }
        return graph();
      case FabricFormat::slurm: import_slurm_conf(text_, hints_.links, draft_); return graph();
      case FabricFormat::slurm_yaml: import_slurm_yaml(text_, hints_.topology, hints_.links, draft_); return graph();
      case FabricFormat::htsim: return fat_tree();
    }
    return {};
  }

 private:
  Json node(DraftPort port) {
    if (!draft_.ok()) { return {}; }
    if (!hints_.hardware.nic.empty()) { port.preset = hints_.hardware.nic; }
    const std::string name = hints_.name.empty() ? std::filesystem::path(file_).stem().string() : hints_.name;
    return Json{{"node", node_json(draft_, name, port)}};
  }
  /// Of millions of devices: written by graph_text.
  static Json graph() { return {}; }
  Json fat_tree() {
    const std::optional<HtsimTopology> topology = read_htsim_topology(text_, draft_);
    return topology ? cluster_json(*topology) : Json();
  }

  const std::string& text_;
  const std::string& file_;
  const FabricHints& hints_;
  const Presets& presets_;
  FabricDraft& draft_;
};

}  // namespace

std::string_view name(FabricFormat format) {
  switch (format) {
    case FabricFormat::nccl_topology: return "nccl-topology";
    case FabricFormat::nvidia_smi: return "nvidia-smi";
    case FabricFormat::ibnetdiscover: return "ibnetdiscover";
    case FabricFormat::slurm: return "slurm";
    case FabricFormat::slurm_yaml: return "slurm-yaml";
    case FabricFormat::htsim: return "htsim";
  }
  return "";
}

std::optional<FabricFormat> fabric_format(std::string_view text) {
  for (const FabricFormat format : kFormats) {
    if (name(format) == text) { return format; }
  }
  return std::nullopt;
}

std::vector<std::string> fabric_format_names() {
  std::vector<std::string> names;
  for (const FabricFormat format : kFormats) { names.emplace_back(name(format)); }
  return names;
}

std::optional<FabricFormat> recognised_fabric(std::string_view text) {
  std::string begin(text.substr(0, kLookedAt));
  std::transform(begin.begin(), begin.end(), begin.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto has = [&](std::string_view part) { return begin.find(part) != std::string::npos; };
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) { return std::nullopt; }
  if (begin[first] == '<' && has("<system")) { return FabricFormat::nccl_topology; }
  if (has("switchguid=") || has("caguid=")) { return FabricFormat::ibnetdiscover; }
  if (has("switchname=") || has("blockname=")) { return FabricFormat::slurm; }
  if (has("downlink_speed_gbps")) { return FabricFormat::htsim; }
  if (has("gpu0") && has("cpu affinity")) { return FabricFormat::nvidia_smi; }
  if (has("- topology:")) { return FabricFormat::slurm_yaml; }
  return std::nullopt;
}

ImportedFabric import_fabric(const std::string& text, const std::string& file, FabricFormat format,
                             const FabricHints& hints, const Presets& presets, Problems& problems) {
  FabricDraft draft(file, problems);
  ImportedFabric imported;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    draft.problem(1, "empty", "the file is empty", "give it what the program prints");
    return imported;
  }
  imported.cluster = Import(text, file, hints, presets, draft).cluster(format);
  if (!draft.ok()) { return imported; }
  imported.summary = draft.devices().empty() ? imported.cluster["fabric"].string_at("kind") : summary_of(draft);
  imported.notes = draft.notes();
  if (imported.cluster.is_null()) { imported.graph = graph_text(draft, 2); }
  return imported;
}

std::string scenario_text(const std::string& name, ImportedFabric& imported) {
  const bool graph = !imported.graph.empty();
  const std::string empty = "\"graph\": {}";
  const std::string frame =
      readable_json(Json{{"name", name},
                         {"cluster", graph ? Json{{"graph", Json::object()}} : std::move(imported.cluster)},
                         {"collective", Json{{"kind", "all_reduce"}, {"algorithm", "ring"}, {"sizes", "1MiB..1GiB"}}}});
  if (!graph) { return frame; }
  const std::size_t at = frame.find(empty);
  std::string text = std::move(imported.graph);
  text.insert(0, frame.substr(0, at + empty.size() - 2));
  return text.append(frame, at + empty.size());
}

}  // namespace athanor
