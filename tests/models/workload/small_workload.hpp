#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/workload/run_workload.hpp"

namespace athanor::testing {

/// A workload that is put together operation by operation, and estimates that are said instead of simulated.
class SmallWorkload {
 public:
  SmallWorkload() { workload_.labels = {"work"}; }

  /// With streams "compute", "communication".
  std::uint32_t worker();
  std::uint32_t communicator(std::vector<std::uint32_t> workers, Parallelism use = Parallelism::data);
  std::uint32_t channel(std::uint32_t from, std::uint32_t to, bool eager = false);

  /// Operations of a worker; return their numbers.
  std::uint32_t compute(std::uint32_t worker, Time time, std::vector<std::uint32_t> after = {});
  std::uint32_t call(std::uint32_t worker, std::uint32_t communicator, Bytes size,
                     std::vector<std::uint32_t> after = {});
  std::uint32_t send(std::uint32_t worker, std::uint32_t channel, Bytes size, std::vector<std::uint32_t> after = {});
  std::uint32_t receive(std::uint32_t worker, std::uint32_t channel, Bytes size, std::vector<std::uint32_t> after = {});

  Workload& workload() { return workload_; }
  /// A byte takes a nanosecond; all calls and messages take all of link 0 where they share it. Good until the next
  /// call.
  const WorkloadEstimates& estimates(bool share_link);
  /// On these.
  WorkloadResult run(const WorkloadOptions& options, bool share_link = false);
  WorkloadResult run(bool share_link = false, double interference = 0) {
    return run(WorkloadOptions{.interference = interference}, share_link);
  }

 private:
  std::uint32_t add(std::uint32_t worker, Workload::Operation operation, const std::vector<std::uint32_t>& after);

  Workload workload_;
  std::deque<CallEstimate> all_;
  WorkloadEstimates estimates_;
};

}  // namespace athanor::testing
