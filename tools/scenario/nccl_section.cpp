#include "tools/scenario/nccl_section.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "models/nccl/machine/graph_file.hpp"
#include "models/nccl/machine/topology_system.hpp"
#include "tools/scenario/algorithm_choice.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

void read(ObjectReader& reader, NcclSection& section) {
  NcclVersion version;
  reader.optional_value("version", "Whose tuning tables decide; absent: the profile's", [&](ValueReader& value) {
    read_version(value, version);
    section.version = version;
  });
  reader.optional_object("environment", "Variables of every process", [&](ObjectReader& inner) {
    inner.entries("\"NCCL_ALGO\": \"Ring\", ...", [&](const std::string& key, ValueReader& value) {
      std::string text;
      value.read(text);
      section.environment[key] = text;
    });
  });
  reader.optional("topology", section.topology,
                  "A file that NCCL wrote by NCCL_TOPO_DUMP_FILE, in place of what the cluster's nodes look like");
  reader.optional("graphs", section.graphs,
                  "A file that NCCL wrote by NCCL_GRAPH_DUMP_FILE, in place of what its search would find");
  reader.optional("registered_buffers", section.registered_buffers, "Of users, by ncclCommRegister or CUDA graphs");
  reader.optional("gpu_direct", section.gpu_direct,
                  "The network plugin reads and writes the memory of GPUs; plain TCP does not");
}

/// Where all algorithms may be taken: those that NCCL has.
void leave_to_nccl(Case& scenario_case) {
  if (scenario_case.algorithms.size() != algorithms_of(scenario_case.kind).size()) { return; }
  std::vector<const Algorithm*> known = scenario_case.algorithms;
  const bool one_node = scenario_case.nccl->communicator().nodes == 1;
  std::erase_if(known, [&](const Algorithm* each) { return !is_nccls(*each, one_node); });
  if (!known.empty()) { scenario_case.algorithms = std::move(known); }
}

std::optional<NcclSection> read_nccl(ObjectReader& reader, Profile& profile) {
  std::optional<NcclSection> section;
  reader.optional_object("nccl", "That NCCL chooses what runs, and what it is told",
                         [&](ObjectReader& inner) { read(inner, section.emplace()); });
  if (section && !profile.nccl) { profile.nccl.emplace(); }
  return section;
}

namespace {

std::string beside(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).string();
}

void read_files(const NcclSection& section, const Case& scenario_case, const Place& place, const std::string& directory,
                NcclSettings& settings, Problems& problems) {
  const std::size_t before = problems.size();
  const std::uint32_t node = std::min(scenario_case.ranks, scenario_case.cluster->endpoints_per_node);
  if (!section.topology.empty()) {
    const std::string path = beside(directory, section.topology);
    settings.system = read_nccl_topology(path, problems);
    if (problems.size() == before && settings.system->gpus.size() < node) {
      problems.add({"topology-mismatch",
                    fmt::format("{} has {} GPUs, and a node of the cluster has {} ranks", path,
                                settings.system->gpus.size(), node),
                    place, "name the file of such a node, or change the cluster"});
    }
  }
  if (problems.size() > before || section.graphs.empty()) { return; }
  const NcclSystem system = nccl_node(*scenario_case.cluster, scenario_case.ranks, settings);
  settings.graphs = read_nccl_graphs(beside(directory, section.graphs), system, problems);
}

}  // namespace

std::shared_ptr<const NcclRuntime> resolve(const NcclSection& section, const Case& scenario_case, const Place& place,
                                           const std::string& directory, Problems& problems) {
  const std::size_t before = problems.size();
  NcclSettings settings;
  settings.version = section.version.value_or(scenario_case.profile.nccl->version);
  settings.environment = section.environment;
  settings.registered_buffers = section.registered_buffers;
  settings.gpu_direct = section.gpu_direct;
  settings.collnet = scenario_case.aggregation != nullptr;

  read_files(section, scenario_case, place, directory, settings, problems);
  const NcclEnvironment environment = nccl_environment(settings.environment, settings.version);
  for (const NcclNote& note : environment.notes) {
    if (note.effect != NcclNote::Effect::refused) { continue; }
    problems.add({"nccl-refuses", fmt::format("{}: {}", note.variable, note.text), place, "change or remove it"});
  }
  if (problems.size() > before) { return nullptr; }
  return std::make_shared<const NcclRuntime>(nccl_communicator(*scenario_case.cluster, scenario_case.ranks, settings));
}

std::vector<std::string> nccl_warnings(const Case& scenario_case) {
  std::vector<std::string> warnings;
  if (!scenario_case.nccl) { return warnings; }
  for (const NcclNote& note : scenario_case.nccl->communicator().environment.notes) {
    warnings.push_back(fmt::format("{}: {}", note.variable, note.text));
  }
  return warnings;
}

}  // namespace athanor
