#include "models/experiments/scenario/nccl_section.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "models/engines/engine.hpp"
#include "models/experiments/experiment.hpp"
#include "models/nccl/machine/graph_file.hpp"
#include "models/nccl/machine/topology_system.hpp"
#include "models/nccl/tuning/tables.hpp"
#include "models/software/profile.hpp"
#include "sim/file.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

void visit(Fields& fields, NcclSection& section) {
  fields.optional_value("version", "Whose tuning tables decide; absent: the profile's",
                        [&](FieldValue& value) { visit_version(value, section.version.emplace()); });
  fields.optional_object("environment", "Variables of every process", [&](Fields& inner) {
    inner.entries("\"NCCL_ALGO\": \"Ring\", ...",
                  [&](const std::string& key, FieldValue& value) { value.visit(section.environment[key]); });
  });
  fields.optional("topology", section.topology,
                  "A file that NCCL wrote by NCCL_TOPO_DUMP_FILE, in place of what the cluster's nodes look like");
  fields.optional("graphs", section.graphs,
                  "A file that NCCL wrote by NCCL_GRAPH_DUMP_FILE, in place of what its search would find");
  fields.optional("registered_buffers", section.registered_buffers, "Of users, by ncclCommRegister or CUDA graphs");
  fields.optional("gpu_direct", section.gpu_direct,
                  "The network plugin reads and writes the memory of GPUs; plain TCP does not");
}

std::optional<NcclSection> read_nccl(Fields& fields, Profile& profile) {
  std::optional<NcclSection> section;
  fields.optional_object("nccl", section, "That NCCL chooses what runs, and what it is told");
  if (section && !profile.nccl) { profile.nccl.emplace(); }
  return section;
}

namespace {

void read_files(const NcclSection& section, const Cluster& cluster, std::uint32_t ranks, const SourceLocation& place,
                const FileReader& files, NcclSettings& settings, Problems& problems) {
  const std::size_t before = problems.size();
  const std::uint32_t node = std::min(ranks, cluster.endpoints_per_node);
  if (!section.topology.empty()) {
    settings.system = read_nccl_topology(files, section.topology, problems);
    if (problems.size() == before && settings.system->gpus.size() < node) {
      problems.add({"topology-mismatch",
                    fmt::format("{} has {} GPUs, and a node of the cluster has {} ranks", files.path(section.topology),
                                settings.system->gpus.size(), node),
                    place, "name the file of such a node, or change the cluster"});
    }
  }
  if (problems.size() > before || section.graphs.empty()) { return; }
  const NcclSystem system = nccl_node(cluster, ranks, settings);
  settings.graphs = read_nccl_graphs(files, section.graphs, system, problems);
}

/// Nodes that have several numbers of ranks find several numbers of channels, which the model does not.
bool are_alike(const Cluster& cluster, std::uint32_t ranks, const SourceLocation& place, Problems& problems) {
  if (cluster.endpoints_per_node > 0) { return true; }
  problems.add({"uneven-nodes",
                fmt::format("NCCL is modelled where every node has as many ranks, and these {} ranks are spread "
                            "unevenly over the nodes of: {}",
                            ranks, cluster.description),
                place, "choose \"ranks\" that fill nodes alike, or leave NCCL out: another \"profile\""});
  return false;
}

/// Of engines in switches, of which NCCL's plugin knows what they add up. All-gather and reduce-scatter in the network
/// have no schedule here.
CollNetPlugin plugin_of(const EngineDeployment* engines) {
  CollNetPlugin plugin;
  plugin.present = engines != nullptr && !engines->slots;
  if (!plugin.present) { return plugin; }
  const std::vector<DataType>& types = engines->engine.limits.types;
  plugin.short_types = types.empty() || std::count(types.begin(), types.end(), DataType::bfloat16) > 0;
  return plugin;
}

}  // namespace

std::shared_ptr<const NcclRuntime> resolve_nccl(const NcclSection& section, const Platform& platform,
                                                std::uint32_t ranks, const SourceLocation& place,
                                                const FileReader& files, Problems& problems) {
  const std::size_t before = problems.size();
  NcclSettings settings;
  settings.version = section.version.value_or(platform.profile->nccl->version);
  settings.rccl = platform.profile->nccl->rccl;
  settings.environment = section.environment;
  settings.registered_buffers = section.registered_buffers;
  settings.gpu_direct = section.gpu_direct;
  settings.collnet = plugin_of(platform.aggregation.get());

  const Cluster& cluster = *platform.cluster;
  if (!are_alike(cluster, ranks, place, problems)) { return nullptr; }
  read_files(section, cluster, ranks, place, files, settings, problems);
  const NcclEnvironment environment = nccl_environment(settings.environment, settings.version);
  for (const NcclNote& note : environment.notes) {
    if (note.effect != NcclNote::Effect::refused) { continue; }
    problems.add({"nccl-refuses", fmt::format("{}: {}", note.variable, note.text), place, "change or remove it"});
  }
  if (problems.size() > before) { return nullptr; }
  NcclCommunicator communicator = nccl_communicator(cluster, ranks, settings);
  if (communicator.peers.host_memory && !environment.shared_memory) {
    problems.add(
        {"not-simulated",
         "NCCL_SHM_DISABLE=1: GPUs of a node that do not reach each other's memory then exchange data over the "
         "network, which is not simulated",
         place, "leave it out, so that they go by host memory"});
    return nullptr;
  }
  return std::make_shared<const NcclRuntime>(std::move(communicator));
}

std::vector<std::uint32_t> places_of(const Cluster& cluster) {
  std::vector<std::uint32_t> places{cluster.endpoints_per_node};
  for (std::uint32_t rank = 0; rank < cluster.endpoints_per_node; ++rank) {
    places.push_back(cluster.fabric->vertex(cluster.endpoints[rank]).index);
  }
  return places;
}

NcclSource nccl_of_groups(const std::optional<NcclSection>& section, const SourceLocation& place,
                          const FileReader& files, const Platform& platform) {
  using Key = std::pair<std::size_t, std::vector<std::uint32_t>>;
  auto known = std::make_shared<std::map<Key, std::shared_ptr<const NcclRuntime>>>();
  return [=](const std::vector<std::uint32_t>& endpoints) {
    const Platform group = on_endpoints(platform, endpoints);
    std::shared_ptr<const NcclRuntime>& runtime = (*known)[{endpoints.size(), places_of(*group.cluster)}];
    if (runtime) { return runtime; }
    Problems problems;
    runtime = resolve_nccl(section.value_or(NcclSection{}), group, static_cast<std::uint32_t>(endpoints.size()), place,
                           files, problems);
    problems.throw_if_any();
    return runtime;
  };
}

std::optional<NcclSection> with_pxn(Fields& fields, std::optional<NcclSection> section, std::optional<bool> pxn,
                                    const Profile& profile, bool own) {
  if (!pxn || !profile.nccl) { return section; }
  if (!section) { section.emplace(); }
  const bool fresh = section->environment.try_emplace("NCCL_PXN_DISABLE", *pxn ? "0" : "1").second;
  if (fresh && !own) { return section; }
  fields.problem("network", "conflict", R"("pxn" says again what "nccl" says, or its jobs for themselves)",
                 R"(leave out "pxn", and write NCCL_PXN_DISABLE into "environment" of "nccl")");
  return section;
}

bool restrict_access(const NcclAccess& access, ClusterCache::Request& order) {
  if (access.nvlink && access.peers && access.nics) { return false; }
  const auto restricted = [&](NodeConfig& node) {
    node.nvlink_access = access.nvlink;
    if (!access.peers) { node.peer_access = false; }
    if (!access.nics) { node.gpu_direct = false; }
  };
  if (order.config.node) { restricted(*order.config.node); }
  for (NodeCountConfig& kind : order.config.mixture) { restricted(kind.node); }
  order.json += fmt::format(" {} {} {}", access.nvlink, access.peers, access.nics);
  return true;
}

}  // namespace athanor
