#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "models/training/parameter_share.hpp"
#include "models/training/pipeline/times.hpp"
#include "models/training/step/simulate_step.hpp"

namespace athanor {

// Lower bounds of what simulate_step() finds. A step is a graph of operations, each of which begins when the last of
// those that it waits for has ended; what is left out of the graph, or takes less, can only let it end earlier. Left
// out are: communication of data ranks and of the tied embedding, links that calls share, and computing that is slower
// beside communication.

/// What one chunk of layers computes for a micro-batch, if communication took no time.
struct ChunkComputing {
  Time forward;
  Time backward;  ///< with what is recomputed
  Time backward_input;
  Time backward_weight;
  ParameterShare held;
};

/// Bounds from computing and the order of a pipeline alone, for one plan after the other.
class ComputingBound {
 public:
  /// Borrows the setup, of which the plan and the layers do not count.
  explicit ComputingBound(const TrainingSetup& setup) : setup_(setup) {}

  /// Plans that follow are of this pipeline. `layers`: by place. Borrows both.
  void take(const PipelineSchedule& schedule, const std::vector<std::uint32_t>& layers);
  /// Requires a plan of the pipeline.
  Time of(const ParallelPlan& plan);

 private:
  /// What decides how long a layer computes: tensor, context, expert, expert_tensor, micro_batch, recompute,
  /// sequence_parallel. Pipelines come on top.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Recompute,
                         RecomputeModules, bool>;
  /// When the stages of the pipeline have computed all gradients, and what they hold.
  struct Stages {
    std::vector<Time> ends;
    std::vector<ParameterShare> held;
  };

  static Key key_of(const ParallelPlan& plan);
  const std::vector<ChunkComputing>& layers_of(const ParallelPlan& plan);
  Stages stages_of(const ParallelPlan& plan);
  std::vector<ChunkComputing> places_of(const ParallelPlan& plan);

  const TrainingSetup& setup_;
  const PipelineSchedule* schedule_ = nullptr;
  const std::vector<std::uint32_t>* layers_ = nullptr;
  std::map<Key, std::vector<ChunkComputing>> known_;  ///< by layer; before and behind them embedding and output
  std::map<Key, Stages> ends_;                        ///< of the pipeline that was taken last
};

/// The bound with all that passes wait for within a stage, and messages between stages: collectives of tensor, context
/// and expert ranks as the timer has them. Of two directions, whose communication is hidden by each other's passes:
/// zero. Throws as CollectiveTimer.
Time step_bound(const TrainingSetup& setup, const PipelineSchedule& schedule, CollectiveTimer& timer);

}  // namespace athanor
