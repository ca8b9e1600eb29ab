#include "tools/scenario/nccl_section.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "models/nccl/machine/graph_file.hpp"
#include "models/nccl/machine/topology_system.hpp"
#include "models/nccl/tuning/tables.hpp"
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

/// Nodes that have several numbers of ranks find several numbers of channels, which the model does not.
bool are_alike(const Cluster& cluster, std::uint32_t ranks, const Place& place, Problems& problems) {
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

std::shared_ptr<const NcclRuntime> resolve_nccl(const NcclSection& section, const Case& scenario_case,
                                                const Place& place, const std::string& directory, Problems& problems) {
  const std::size_t before = problems.size();
  NcclSettings settings;
  settings.version = section.version.value_or(scenario_case.profile.nccl->version);
  settings.rccl = scenario_case.profile.nccl->rccl;
  settings.environment = section.environment;
  settings.registered_buffers = section.registered_buffers;
  settings.gpu_direct = section.gpu_direct;
  settings.collnet = plugin_of(scenario_case.aggregation.get());

  const Cluster& cluster = *scenario_case.cluster;
  if (!are_alike(cluster, scenario_case.ranks, place, problems)) { return nullptr; }
  read_files(section, scenario_case, place, directory, settings, problems);
  const NcclEnvironment environment = nccl_environment(settings.environment, settings.version);
  for (const NcclNote& note : environment.notes) {
    if (note.effect != NcclNote::Effect::refused) { continue; }
    problems.add({"nccl-refuses", fmt::format("{}: {}", note.variable, note.text), place, "change or remove it"});
  }
  if (problems.size() > before) { return nullptr; }
  NcclCommunicator communicator = nccl_communicator(cluster, scenario_case.ranks, settings);
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

namespace {

/// The case on a cluster of the endpoints alone that its ranks are on.
Case on_its_endpoints(const Case& scenario_case) {
  std::vector<std::uint32_t> endpoints(scenario_case.ranks);
  std::iota(endpoints.begin(), endpoints.end(), 0U);
  Case result = scenario_case;
  result.cluster = std::make_shared<const Cluster>(cluster_of_job(*scenario_case.cluster, endpoints));
  return result;
}

/// Jobs share a cluster, which has one way between two GPUs.
bool reach_alike(const JobsText& jobs, const Place& place, Problems& problems) {
  const NcclAccess& first = jobs.nccl.front()->communicator().access;
  const bool alike = std::all_of(jobs.nccl.begin(), jobs.nccl.end(),
                                 [&](const auto& each) { return each->communicator().access == first; });
  if (alike) { return true; }
  problems.add(
      {"not-simulated",
       "jobs reach the memory of GPUs in different ways (NCCL_P2P_DISABLE, NCCL_P2P_LEVEL, NCCL_NET_GDR_LEVEL, "
       "gpu_direct), which is not simulated side by side",
       place, "give all jobs the same of these"});
  return false;
}

}  // namespace

std::optional<NcclSection> with_pxn(ObjectReader& reader, std::optional<NcclSection> section, std::optional<bool> pxn,
                                    const Case& scenario_case) {
  if (!pxn || !scenario_case.profile.nccl) { return section; }
  if (!section) { section.emplace(); }
  const bool own = scenario_case.jobs && std::any_of(scenario_case.jobs->own.begin(), scenario_case.jobs->own.end(),
                                                     [](const JobText& job) { return job.nccl.has_value(); });
  const bool fresh = section->environment.try_emplace("NCCL_PXN_DISABLE", *pxn ? "0" : "1").second;
  if (fresh && !own) { return section; }
  reader.problem("network", "conflict", R"("pxn" says again what "nccl" says, or its jobs for themselves)",
                 R"(leave out "pxn", and write NCCL_PXN_DISABLE into "environment" of "nccl")");
  return section;
}

bool take_nccl(const std::optional<NcclSection>& section, const Place& place, const std::string& directory,
               Problems& problems, Case& scenario_case) {
  const NcclSection common = section.value_or(NcclSection{});
  if (!scenario_case.jobs) {
    scenario_case.nccl = resolve_nccl(common, on_its_endpoints(scenario_case), place, directory, problems);
    if (scenario_case.nccl) { leave_to_nccl(scenario_case); }
    return scenario_case.nccl != nullptr;
  }
  JobsText& jobs = *scenario_case.jobs;
  std::map<std::vector<std::uint32_t>, std::shared_ptr<const NcclRuntime>> known;  // of those with the common section
  for (std::uint32_t job = 0; job < jobs.jobs; ++job) {
    Case own = scenario_case;
    own.cluster = std::make_shared<const Cluster>(
        cluster_of_job(*scenario_case.cluster, endpoints_of_job(jobs, job, scenario_case.ranks)));
    const bool has_own = !jobs.own.empty() && jobs.own[job].nccl;
    std::shared_ptr<const NcclRuntime> fresh;
    std::shared_ptr<const NcclRuntime>& runtime = has_own ? fresh : known[places_of(*own.cluster)];
    if (!runtime) { runtime = resolve_nccl(has_own ? *jobs.own[job].nccl : common, own, place, directory, problems); }
    if (!runtime) { return false; }
    jobs.nccl.push_back(runtime);
  }
  scenario_case.nccl = jobs.nccl.front();
  leave_to_nccl(scenario_case);
  return reach_alike(jobs, place, problems);
}

bool restrict_access(const NcclAccess& access, ClusterWorkshop::Order& order) {
  if (access.nvlink && access.peers && access.nics) { return false; }
  const auto restricted = [&](NodeText& node) {
    node.nvlink_access = access.nvlink;
    if (!access.peers) { node.peer_access = false; }
    if (!access.nics) { node.gpu_direct = false; }
  };
  if (order.text.node) { restricted(*order.text.node); }
  for (NodeCountText& kind : order.text.mixture) { restricted(kind.node); }
  order.json += fmt::format(" {} {} {}", access.nvlink, access.peers, access.nics);
  return true;
}

namespace {

/// "": CollNet is not asked for, or its plugin is there.
std::string missing_plugin(const NcclCommunicator& communicator) {
  const bool asked = communicator.environment.collnet && communicator.nodes > 1;
  if (!asked || communicator.collnet.present) { return ""; }
  return "NCCL_COLLNET_ENABLE: no switch of the network adds up (\"aggregation\" of \"network\"), so that NCCL finds "
         "no "
         "plugin for it and goes on without CollNet";
}

}  // namespace

std::vector<std::string> nccl_warnings(const Case& scenario_case) {
  std::vector<std::string> warnings;
  if (!scenario_case.nccl) { return warnings; }
  std::vector<std::shared_ptr<const NcclRuntime>> all{scenario_case.nccl};
  if (scenario_case.jobs) { all = scenario_case.jobs->nccl; }
  const auto add = [&](std::string warning) {
    const bool known = warning.empty() || std::count(warnings.begin(), warnings.end(), warning) > 0;
    if (!known) { warnings.push_back(std::move(warning)); }
  };
  for (const auto& runtime : all) {
    if (!scenario_case.profile.nccl->rccl) { add(nccl_version_note(runtime->communicator().version)); }
    for (const NcclNote& note : runtime->communicator().environment.notes) {
      add(fmt::format("{}: {}", note.variable, note.text));
    }
    add(missing_plugin(runtime->communicator()));
  }
  return warnings;
}

}  // namespace athanor
