#include "models/jobs/placement/fragmentation.hpp"

#include <algorithm>
#include <map>

namespace athanor {

std::vector<TypicalTask> typical_tasks(const JobList& jobs, double share) {
  std::map<Demand, double> counts;
  double all = 0;
  for (const Job& job : jobs.jobs) {
    for (const TaskGroup& group : jobs.shape(job.shape)) {
      Demand demand = group.each;
      demand.memory_mib = 0;
      demand.nics = 0;
      counts[demand] += group.tasks;
      all += group.tasks;
    }
  }
  std::vector<TypicalTask> typical;
  for (const auto& [demand, count] : counts) { typical.push_back({demand, count}); }
  std::stable_sort(typical.begin(), typical.end(),
                   [](const TypicalTask& a, const TypicalTask& b) { return a.weight > b.weight; });
  double kept = 0;
  std::size_t size = 0;
  while (size < typical.size() && kept < share * all) { kept += typical[size++].weight; }
  typical.resize(size);
  for (TypicalTask& task : typical) { task.weight /= kept; }
  return typical;
}

FreeOnNode free_on(NodeId node, const Inventory& inventory) {
  FreeOnNode free{inventory.free_cpu_milli(node), inventory.nodes().nodes[node].gpus, {}};
  for (std::uint32_t gpu = 0; gpu < free.gpus; ++gpu) { free.milli[gpu] = inventory.free_milli(node, gpu); }
  return free;
}

double fragmentation(const FreeOnNode& free, std::span<const TypicalTask> tasks, const std::vector<bool>& fits_type) {
  std::uint32_t idle = 0;
  for (std::uint32_t gpu = 0; gpu < free.gpus; ++gpu) { idle += free.milli[gpu]; }
  double sum = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Demand& demand = tasks[i].demand;
    const std::uint32_t needed = demand.gpu_milli > 0 ? demand.gpu_milli : Inventory::kWhole;
    const std::uint32_t gpus = demand.gpu_milli > 0 ? 1 : demand.gpus;
    std::uint32_t fitting = 0;
    std::uint32_t useless = 0;
    for (std::uint32_t gpu = 0; gpu < free.gpus; ++gpu) {
      const bool fits = free.milli[gpu] >= needed;
      fitting += fits ? 1 : 0;
      useless += fits ? 0 : free.milli[gpu];
    }
    const bool fits = gpus > 0 && fitting >= gpus && free.cpu_milli >= demand.cpu_milli && fits_type[i];
    sum += tasks[i].weight * (fits ? useless : idle);
  }
  return sum;
}

}  // namespace athanor
