#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/training/step/simulate_step.hpp"

namespace athanor {

/// Values that parallel plans are put together from. An empty list: what default_space() says.
struct PlanSpace {
  std::vector<std::uint32_t> gpus;  ///< ranks of a plan
  std::vector<std::uint32_t> tensor;
  std::vector<std::uint32_t> context;
  std::vector<std::uint32_t> pipeline;
  std::vector<std::uint32_t> data;
  std::vector<std::uint32_t> expert;
  std::vector<std::uint32_t> expert_tensor;
  std::vector<std::uint32_t> micro_batch;
  std::vector<PipelineKind> schedules;        ///< of two stages or more; one stage alone has 1F1B
  std::vector<std::uint32_t> virtual_stages;  ///< of interleaved
  std::vector<Sharding> sharding;
  std::vector<Recompute> recompute;
  bool uneven = false;  ///< also plans whose places do not get as many layers each: see spreads_evenly()
};

/// Fills in what is empty, but `gpus`, `data` and what follows from it:
/// tensor: powers of two up to `domain`, the GPUs that NVLink joins (0, unknown: 8);
/// context: powers of two that leave a rank 4096 tokens or more of a sequence, and 1;
/// pipeline: up to most_places(); data: what the other degrees leave;
/// expert: powers of two that divide the experts, and all of them; expert_tensor: 1 and as tensor;
/// micro_batch: powers of two up to 64; virtual_stages: from 2 on;
/// schedules: 1f1b, interleaved, zb_h1, zb_h2, zb_v, and for a model with experts dual_pipe (gpipe takes as long as
/// 1f1b and keeps more); sharding and recompute: all kinds, but selective recomputation of layers that have no
/// attention.
PlanSpace default_space(PlanSpace space, const TrainingSetup& setup, std::uint32_t domain);

/// Plans of a space.
struct PlanList {
  std::vector<ParallelPlan> plans;
  /// Those that were left out, by why: the model cannot be spread so, or the pipeline is not even.
  std::map<std::string, std::uint64_t> refused;
  std::string misfit;  ///< the first of degrees with GPUs, batch or layers; what to say where no plan is left
};

/// All plans of a completed space that divide the GPUs and the batch and that the model does not contradict. What no
/// list names is as in the setup's plan, but: tensor ranks run with sequence parallelism where that plan has it, where
/// it has no tensor ranks and no framework to say so, and beside experts; what a framework decides follows the degrees;
/// full recomputation is of all layers; selective one of the modules that the setup's plan recomputes, or else in two
/// ways: without products of matrices, and with those of MLPs and experts. Of plans that would be the same (sharding
/// among one rank, chunks of no pipeline) one is listed.
PlanList plans_of(const PlanSpace& space, const TrainingSetup& setup);

}  // namespace athanor
