#include "models/experiments/scenario/workload_slices.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "models/jobs/mig.hpp"
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

/// What a profile is of a type; empty: it has none of that name, several: its name does not say which.
std::set<std::uint8_t> slices_of(const std::string& type, const std::string& profile) {
  std::set<std::uint8_t> slices;
  for (const MigProfile& each : mig_profiles(type)) {
    if (each.name == profile) { slices.insert(each.slice); }
  }
  return slices;
}

std::string profiles_of(const std::string& type) {
  std::vector<std::string> names;
  for (const MigProfile& each : mig_profiles(type)) { names.emplace_back(each.name); }
  return fmt::format("{}: {}", type, names.empty() ? "none" : joined(names, ", "));
}

}  // namespace

void resolve_slices(WorkloadJobKind& job, const NodeList& nodes, Problems& problems) {
  for (WorkloadTasks& tasks : job.tasks) {
    if (tasks.mig.empty()) { continue; }
    const std::vector<std::string> types = types_for(job, nodes);
    std::set<std::uint8_t> slices;
    std::vector<std::string> able;
    std::vector<std::string> known;
    for (const std::string& type : types) {
      const std::set<std::uint8_t> own = slices_of(type, tasks.mig);
      slices.insert(own.begin(), own.end());
      if (!own.empty()) { able.push_back(type); }
      known.push_back(profiles_of(type));
    }
    if (slices.empty()) {
      problems.add({"no-slice", fmt::format("no GPU of the nodes can be split into '{}'", tasks.mig), job.place,
                    "they can be split into: " + joined(known, "; ")});
    } else if (slices.size() > 1) {
      problems.add({"ambiguous",
                    fmt::format("'{}' is an eighth of some of these GPUs and a quarter of others: {}", tasks.mig,
                                joined(able, ", ")),
                    job.place, R"(say by "gpu_types" which, and call them by their memory: "A100-80GB")"});
    } else {
      tasks.slice = *slices.begin();
      if (able.size() < nodes.gpu_types.size()) { job.gpu_types = able; }
    }
  }
}

}  // namespace athanor
