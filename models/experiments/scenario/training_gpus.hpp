#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/library/library.hpp"
#include "models/training/step/simulate_step.hpp"
#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

struct Cluster;

/// Which GPUs the endpoints of a cluster are.
struct ClusterGpus {
  std::vector<std::optional<GpuConfig>> gpus;  ///< each once; none: that of a kind of node is not known
  std::vector<std::uint32_t> of_endpoint;      ///< into `gpus`; empty: all are the first
};

/// Of nodes of one kind, and of mixtures. No GPUs where endpoints are on the fabric themselves. Throws FileError for
/// the presets' own files.
ClusterGpus gpus_of(const ClusterConfig& config, const Cluster& cluster, const Library& library);

/// Bytes per second between a GPU and its host, each way, of the slowest: over C2C, else over PCIe as if nobody else
/// used it. 0: endpoints have neither.
double host_bandwidth(const Cluster& cluster);

/// Kinds that ranks have: "H100-SXM-80GB and A100-SXM-80GB".
std::string gpu_names(const TrainingSetup& setup);

/// "8 H100-SXM-80GB and 8 A100-SXM-80GB".
std::string counted_gpus(const TrainingSetup& setup);

/// Of those with a known size; of equal ones the first.
const GpuRates& smallest_gpu(const TrainingSetup& setup);

/// Whose memory a plan has to fit into: the first GPU's, where one process has all, since it holds most; of the kind
/// that is known to be the fullest; else that of smallest_gpu().
const GpuRates& fullest_gpu(const TrainingSetup& setup);

/// That a plan does not fit into the memory of fullest_gpu(), of which it is estimated to need more than there is.
/// `ran`: somebody has measured it, so that the estimate is wrong.
std::string memory_shortage(double needed, const TrainingSetup& setup, bool ran);

}  // namespace athanor
