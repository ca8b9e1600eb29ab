#include "models/experiments/scenario/workload_gpus.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/jobs/mig.hpp"
#include "sim/check.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// Types of GPUs of the nodes that a job may have.
std::vector<std::string> types_for(const WorkloadJobKind& job, const NodeList& nodes) {
  std::vector<std::string> types;
  for (const std::string& type : nodes.gpu_types) {
    const bool wanted = std::find(job.gpu_types.begin(), job.gpu_types.end(), type) != job.gpu_types.end();
    if (job.gpu_types.empty() || wanted) { types.push_back(type); }
  }
  return types;
}

/// Where a type is known: its number among them.
std::uint16_t number_of(const std::string& type, std::vector<std::string>& types) {
  const auto found = std::find(types.begin(), types.end(), type);
  const auto number = static_cast<std::uint16_t>(found - types.begin());
  if (found == types.end()) { types.push_back(type); }
  return number;
}

void check_speeds(const WorkloadJobKind& job, const NodeList& nodes, Problems& problems) {
  for (const auto& [type, speed] : job.speed_by_gpu) {
    if (std::find(nodes.gpu_types.begin(), nodes.gpu_types.end(), type) != nodes.gpu_types.end()) { continue; }
    problems.add({"no-type", fmt::format("no node has GPUs of the type '{}', whose speed a job tells", type), job.place,
                  "nodes have " + enumeration(nodes.gpu_types)});
  }
}

}  // namespace

void tell_kinds_apart(const ClusterConfig& config, const Cluster& cluster, NodeList& nodes) {
  if (config.mixture.empty()) { return; }
  nodes.gpu_types.clear();
  NodeId next{0};
  for (std::uint32_t kind = 0; kind < config.mixture.size(); ++kind) {
    const NodeIdentity& identity = kind == 0 ? cluster.identity.value() : cluster.others.at(kind - 1);
    const std::uint16_t type = number_of(identity.gpu.empty() ? "GPU" : identity.gpu, nodes.gpu_types);
    for (std::uint32_t i = 0; i < config.mixture[kind].count; ++i, ++next.value) { nodes.nodes[next].gpu_type = type; }
  }
  require(next.value == nodes.count(), "{} nodes of several kinds, of {}", next.value, nodes.count());
}

void resolve_gpus(WorkloadJobKind& job, const NodeList& nodes, Problems& problems) {
  check_speeds(job, nodes, problems);
  for (WorkloadTasks& tasks : job.tasks) {
    if (tasks.mig.empty()) { continue; }
    const std::vector<std::string> types = types_for(job, nodes);
    const MigChoice choice = mig_choice(types, tasks.mig);
    if (choice.slices.empty()) {
      problems.add({"no-slice", fmt::format("no GPU of the nodes can be split into '{}'", tasks.mig), job.place,
                    "they can be split into: " + mig_names(types)});
    } else if (choice.slices.size() > 1) {
      problems.add({"ambiguous",
                    fmt::format("'{}' is an eighth of some of these GPUs and a quarter of others: {}", tasks.mig,
                                joined(choice.types, ", ")),
                    job.place, R"(say by "gpu_types" which, and call them by their memory: "A100-80GB")"});
    } else {
      tasks.slice = choice.slices.front();
      if (choice.types.size() < nodes.gpu_types.size()) { job.gpu_types = choice.types; }
    }
  }
}

}  // namespace athanor
