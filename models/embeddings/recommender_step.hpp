#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "algorithms/schedule/all_to_all_v_sizes.hpp"
#include "models/embeddings/recommender.hpp"
#include "models/workload/run_workload.hpp"

namespace athanor {

/// What of a step is done for the batch that comes next, beside the one that is computed, in the steady state.
enum class BatchPipeline : std::uint8_t {
  none,         ///< nothing: one batch after the other
  sparse_dist,  ///< copies from the host and the exchange of indices (TorchRec's TrainPipelineSparseDist)
  prefetch,     ///< these, and rows that come into caches (PrefetchTrainPipelineSparseDist)
};

std::string_view name(BatchPipeline pipeline);

/// What is trained how, on which GPUs.
struct RecommenderSetup {
  RecommenderModel model;
  EmbeddingNumbers numbers;
  EmbeddingGrid grid;
  TableShards shards;
  Precision precision = Precision::fp32;  ///< of products outside of tables
  bool fused = true;                      ///< activations are computed by the products
  BatchPipeline pipeline = BatchPipeline::none;
  GpuRates gpu;
  ComputeProfile compute;
  double stream_share = 1;  ///< of the memory's bandwidth, that look-ups reach
  double input_bytes = 0;   ///< of a GPU's samples, that come from its host in each step
};

/// How long a GPU is busy with tables in a step.
struct EmbeddingTimes {
  Time forward;
  Time backward;
  Time fetch;  ///< rows that come into caches
};

/// Bytes over the memory's bandwidth, or over the host's link, which are used one after the other; and the overhead of
/// a kernel. By rank.
std::vector<EmbeddingTimes> embedding_times(const RecommenderSetup& setup);

/// A step, and how much each rank sends to each other in its uneven exchanges.
struct RecommenderStep {
  Workload workload;
  /// By root of calls of the kind all_to_all_v, which tells them apart.
  std::vector<std::shared_ptr<const AllToAllVSizes>> exchanges;
};

/// A step of all ranks, each a worker: input exchange, look-ups, exchange of pooled vectors beside the bottom MLP,
/// interaction and top MLP, both back, exchange of gradients beside the bottom MLP's backward, updates of rows; dense
/// gradients are reduced beside, those of the top MLP as soon as they are there (Naumov et al., DLRM, section 4;
/// Mudigere et al., arXiv 2104.05158, section 4). Products fill the GPU, whatever the profile says of the last wave:
/// gradients of small matrices sum over the batch, which libraries divide.
RecommenderStep step_of(const RecommenderSetup& setup);

/// What calls of a step take alone, and what holds those of uneven exchanges. `timer`: of these settings.
/// Throws as run_jobs().
class StepEstimates {
 public:
  StepEstimates(const RecommenderStep& step, const PricingSettings& settings, CollectiveTimer& timer);
  StepEstimates(const StepEstimates&) = delete;
  StepEstimates& operator=(const StepEstimates&) = delete;

  const WorkloadEstimates& all() const { return all_; }

 private:
  std::vector<CallEstimate> uneven_;  ///< by number of the exchange
  WorkloadEstimates all_;
};

/// The same step with even exchanges of as many bytes as the busiest rank's: for those who cannot write others.
Workload with_even_exchanges(RecommenderStep step);

}  // namespace athanor
