#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/training/memory.hpp"
#include "models/training/parallel_plan.hpp"
#include "models/training/step/simulate_step.hpp"
#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"

namespace athanor {

struct Cluster;

/// What is divided by how fast GPUs compute.
enum class Balancing : std::uint8_t { none, layers, batch };

/// GPUs that compute more slowly than others of their kind.
struct SlowGpus {
  std::vector<std::uint32_t> nodes;  ///< all GPUs of these nodes, or
  std::vector<std::uint32_t> ranks;
  Ratio slower{1, 1};  ///< how much longer they compute
};

/// What a training says of GPUs that are not alike.
struct MixedConfig {
  Balancing balance = Balancing::none;
  std::vector<SlowGpus> stragglers;
};

/// "micro_batches" and "balance" of "parallel". `layers`: whether the scenario divides them itself.
void read_uneven_shares(Fields& fields, ParallelPlan& plan, MixedConfig& config, bool layers);
/// "stragglers" of "training".
void read_stragglers(Fields& fields, MixedConfig& config);

/// Why something cannot be, and what to do.
struct MixedFault {
  std::string code;
  std::string message;
  std::string hint;
};

/// Whether micro-batches of copies fit the plan and its batch. None: they do, or all copies have as many.
std::optional<MixedFault> uneven_batch_fault(const ParallelPlan& plan);
/// Whether the plan can be balanced. None: it can, or is not to be.
std::optional<MixedFault> balance_fault(const ParallelPlan& plan, Balancing balance);

/// Whether some stage has nothing to do: no layer, embedding or output. `layers`: of each place.
std::optional<MixedFault> idle_stage_fault(const PipelineSchedule& schedule, const std::vector<std::uint32_t>& layers);

/// Makes kinds of GPUs of stragglers, among so many ranks.
std::optional<MixedFault> take_stragglers(const MixedConfig& config, const Cluster& cluster, std::uint32_t ranks,
                                          TrainingSetup& setup, std::vector<std::string>& notes);
/// Divides layers, or the batch, and says how much that brings.
std::optional<MixedFault> take_balance(Balancing balance, TrainingSetup& setup, std::vector<std::string>& notes);

/// The kind of GPU whose memory a plan fills most, of unequal ones: by each stage and the GPUs that it has. None: all
/// are alike, or the model is a list of layers.
struct FullestKind {
  std::uint32_t kind = 0;
  MemoryUse use;
};
std::optional<FullestKind> fullest_kind(const TrainingSetup& setup);

/// "6, 10 and 8".
std::string counts_text(const std::vector<std::uint32_t>& counts);

}  // namespace athanor
