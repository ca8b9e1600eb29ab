#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/execution/run.hpp"

namespace athanor {

/// One of several jobs on a cluster: a collective among some of its endpoints.
struct JobRequest {
  std::vector<std::uint32_t> endpoints;  ///< by rank, of the cluster's; no other job has them
  Collective collective;                 ///< of as many ranks
  Bytes element_size{4};
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::vector<const Algorithm*> algorithms;
  Overrides overrides = {};
  std::shared_ptr<const NcclRuntime> nccl = nullptr;  ///< as of RunRequest
};

struct JobsRequest {
  const Cluster& cluster;
  const Profile& profile;
  std::vector<JobRequest> jobs;  ///< in the order in which they ask for trees of engines
  SimulationOptions options;     ///< `jobs` in it does not count
  std::uint64_t seed = 1;        ///< of routing
  /// Of the switches of the network; null: they do not reduce and multicast. Where it names no fallback, a job that
  /// needs engines and gets none makes all fail.
  std::shared_ptr<const EngineDeployment> aggregation = nullptr;
  /// Jobs of the same collective take what is fastest for the first of them, if it fits, without being tried alone:
  /// their JobResult::alone is its. For many jobs that differ in where they are only.
  bool like_first = false;
  bool bounds = true;  ///< JobResult::alone has its bound; else that is zero
};

/// What became of one of the jobs.
struct JobResult {
  RunResult alone;  ///< on an idle fabric, with the trees that it was granted; `limited_by` is not worked out
  std::vector<std::string> roots;                  ///< names of the top switches of its trees
  Time waited;                                     ///< for engines that jobs before it held
  Time time;                                       ///< until its last rank has ended, launch and waiting included
  double slowdown = 1;                             ///< time / alone.time
  std::optional<AggregationJobResult> slots = {};  ///< of what ran packet by packet, beside the other jobs
};

struct JobsResult {
  std::vector<JobResult> jobs;
  Time time;            ///< until the last one has ended
  Simulated simulated;  ///< all of them together
};

/// The cluster as a job on some of its endpoints sees it: they are all there are.
Cluster cluster_of_job(const Cluster& cluster, const std::vector<std::uint32_t>& endpoints);
/// The same, beginning with without_endpoints(cluster): of many parts of a large cluster, whose endpoints are long
/// lists.
Cluster cluster_of_job(const Cluster& cluster, Cluster part, const std::vector<std::uint32_t>& endpoints);
Cluster without_endpoints(Cluster cluster);

/// What one of the jobs asks for on that cluster, if it were alone; it draws nothing. Borrows the cluster.
RunRequest request_of_job(const JobsRequest& all, const JobRequest& own, const Cluster& cluster);

/// Runs several collectives at the same time on one fabric, which they share. In their order, each is granted trees by
/// one aggregation manager, and chooses among its algorithms, or, where it needs engines and gets none, among the
/// fallbacks, the one that is fastest on an idle fabric: nobody knows what the others do. Jobs that take turns at
/// engines (EngineModel::exclusive) begin when those before them have ended.
///
/// Where all jobs add up packet by packet in switches (see run_jobs_by_packets()), they share the slots of these.
///
/// Requires jobs whose agents are devices, on different endpoints. Throws SimulationError: "engines-exhausted" where a
/// job needs engines and gets none, "no-candidate" where no algorithm fits, each with the job's number; and as
/// simulate() does.
JobsResult run_jobs(const JobsRequest& request);

}  // namespace athanor
