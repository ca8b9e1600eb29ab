#include "models/workload/run_workload.hpp"

#include <algorithm>
#include <map>

#include "models/workload/accounts.hpp"
#include "models/workload/workload_runner.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

WorkloadResult result_of(const WorkloadRunner& run, const Workload& workload, const WorkloadEstimates& estimates,
                         const WorkloadOptions& options) {
  WorkloadResult result;
  for (const auto& records : run.records()) {
    for (const OperationRecord& each : records) { result.time = std::max(result.time, each.end); }
    result.operations += records.size();
  }
  result.workers = split_time(workload, run.records(), result.time);
  for (std::uint32_t worker = 0; worker < result.workers.size(); ++worker) {
    result.workers[worker].communicating = run.communicating(worker);
  }
  result.calls = run.calls();
  if (options.critical_path) { result.critical = critical_path(workload, estimates, run.records()); }
  for (const CallEstimate* each : estimates.estimates) { result.estimates.push_back(*each); }
  for (const Workload::Worker& each : workload.workers) { result.names.push_back(each.name); }
  result.labels = workload.labels;
  result.events = run.events();
  return result;
}

}  // namespace

WorkloadEstimates estimate_all(const Workload& workload, CollectiveTimer& timer) {
  WorkloadEstimates estimates;
  std::map<const CallEstimate*, std::uint32_t> numbers;
  const auto number = [&](const CallEstimate& estimate) {
    const auto [found, fresh] = numbers.try_emplace(&estimate, static_cast<std::uint32_t>(estimates.estimates.size()));
    if (fresh) { estimates.estimates.push_back(&estimate); }
    return found->second;
  };
  for (const Workload::Call& call : workload.calls) {
    estimates.of_call.push_back(number(timer.estimate(workload, call)));
  }
  for (const Workload::Worker& worker : workload.workers) {
    for (const Workload::Operation& operation : worker.operations) {
      if (operation.kind != Workload::Kind::send) { continue; }
      const auto [found, fresh] = estimates.of_message.try_emplace({operation.subject, operation.size}, 0);
      if (fresh) { found->second = number(timer.estimate(workload.channels[operation.subject], operation.size)); }
    }
  }
  return estimates;
}

WorkloadResult run_workload(const Workload& workload, const WorkloadEstimates& estimates,
                            const WorkloadOptions& options) {
  check(workload);
  require(options.interference >= 0 && options.computing > 0, "computing takes {} of its time, and {} more",
          options.computing, options.interference);
  WorkloadRunner run(workload, estimates, options);
  run.run();
  return result_of(run, workload, estimates, options);
}

}  // namespace athanor
