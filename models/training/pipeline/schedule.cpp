#include "models/training/pipeline/schedule.hpp"

#include <fmt/core.h>

#include "models/training/pipeline/orders.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kMostTasks = 100'000'000;

[[noreturn]] void refuse(const std::string& why) { throw SimulationError("pipeline-does-not-fit", why); }

void check_chunks(std::string_view schedule, std::uint32_t chunks, std::uint32_t wanted) {
  if (chunks == wanted) { return; }
  refuse(fmt::format("{} has {} of layers on each stage, not {}: set virtual_stages to {}{}", schedule,
                     wanted == 1 ? "one chunk" : "two chunks", chunks, wanted,
                     wanted == 1 ? ", or use interleaved" : ""));
}

void check_interleaved(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches) {
  if (chunks < 2) {
    refuse("interleaved needs at least two chunks of layers on each stage: set virtual_stages, or use 1f1b");
  }
  if (micro_batches < stages) {
    refuse(
        fmt::format("interleaved needs at least as many micro-batches as stages, {0}, not {1}: a global batch of "
                    "{0} micro-batches for each data rank would do, or 1f1b",
                    stages, micro_batches));
  }
}

void check_dual_pipe(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches) {
  check_chunks("dual_pipe", chunks, 1);
  if (stages % 2 != 0) {
    refuse(fmt::format("dual_pipe needs an even number of stages, not {}: {} would do", stages, stages + 1));
  }
  if (micro_batches % 2 != 0 || micro_batches < 2 * stages) {
    refuse(
        fmt::format("dual_pipe needs an even number of micro-batches, at least twice the {} stages, not {}: {} "
                    "would do",
                    stages, micro_batches, micro_batches < 2 * stages ? 2 * stages : micro_batches + 1));
  }
}

void check_fit(PipelineKind kind, std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches) {
  const std::uint64_t tasks = std::uint64_t{3} * stages * micro_batches;
  if (tasks > kMostTasks || tasks * chunks > kMostTasks) {
    refuse(fmt::format("{} stages of {} chunks and {} micro-batches make more than {} tasks", stages, chunks,
                       micro_batches, kMostTasks));
  }
  switch (kind) {
    case PipelineKind::gpipe: return check_chunks("gpipe", chunks, 1);
    case PipelineKind::one_f_one_b: return check_chunks("1f1b", chunks, 1);
    case PipelineKind::interleaved: return check_interleaved(stages, chunks, micro_batches);
    case PipelineKind::zb_h1: return check_chunks("zb_h1", chunks, 1);
    case PipelineKind::zb_h2: return check_chunks("zb_h2", chunks, 1);
    case PipelineKind::zb_v: return check_chunks("zb_v", chunks, 2);
    case PipelineKind::dual_pipe: return check_dual_pipe(stages, chunks, micro_batches);
  }
}

PipelineOrder order_of(PipelineKind kind, std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches,
                       std::uint32_t stage, PassPairs pairs) {
  switch (kind) {
    case PipelineKind::gpipe: return gpipe_order(micro_batches);
    case PipelineKind::one_f_one_b: return one_f_one_b_order(stages, micro_batches, stage, pairs);
    case PipelineKind::interleaved: return interleaved_order(stages, chunks, micro_batches, stage, pairs);
    case PipelineKind::zb_h1: return zero_bubble_order(1, stages, micro_batches, stage);
    case PipelineKind::zb_h2: return zero_bubble_order(2, stages, micro_batches, stage);
    case PipelineKind::zb_v: return zero_bubble_v_order(stages, micro_batches, stage);
    case PipelineKind::dual_pipe: return dual_pipe_order(stages, micro_batches, stage);
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> PipelineSchedule::entries() const {
  std::vector<std::uint32_t> entries(std::size_t{stages} * chunks);
  for (std::uint32_t entry = 0; entry < stage_chunks.size(); ++entry) {
    entries[std::size_t{stage_chunks[entry].stage} * chunks + stage_chunks[entry].chunk] = entry;
  }
  return entries;
}

PipelineSchedule pipeline_schedule(PipelineKind kind, std::uint32_t stages, std::uint32_t chunks,
                                   std::uint32_t micro_batches, PassPairs pairs) {
  require(stages > 0 && chunks > 0 && micro_batches > 0, "a pipeline of {} stages, {} chunks and {} micro-batches",
          stages, chunks, micro_batches);
  check_fit(kind, stages, chunks, micro_batches);
  PipelineSchedule schedule;
  schedule.stages = stages;
  schedule.replicas = kind == PipelineKind::dual_pipe ? 2 : 1;
  schedule.chunks = chunks * schedule.replicas;
  schedule.micro_batches = micro_batches;
  const bool turns = kind == PipelineKind::zb_v || kind == PipelineKind::dual_pipe;
  for (std::uint32_t chunk = 0; chunk < schedule.chunks; ++chunk) {
    for (std::uint32_t s = 0; s < stages; ++s) {
      schedule.stage_chunks.push_back({turns && chunk % 2 == 1 ? stages - 1 - s : s, chunk});
    }
  }
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    schedule.tasks.push_back(order_of(kind, stages, chunks, micro_batches, stage, pairs));
  }
  return schedule;
}

PipelineSchedule schedule_of(const ParallelPlan& plan) {
  return pipeline_schedule(plan.schedule, plan.pipeline, plan.chunks(), plan.micro_batches(),
                           plan.overlap_experts ? PassPairs::side_by_side : PassPairs::by_turns);
}

HeldActivations peak_activations(const PipelineSchedule& schedule, std::uint32_t stage, double weight_share) {
  require(stage < schedule.stages, "stage {} of {}", stage, schedule.stages);
  std::uint32_t whole = 0;
  std::uint32_t weights = 0;
  HeldActivations peak;
  const double chunks = static_cast<double>(schedule.chunks) / schedule.replicas;
  for (const PipelineTask& task : schedule.tasks[stage]) {
    const bool begins = task.kind == PipelineTask::Kind::forward || task.kind == PipelineTask::Kind::forward_backward;
    whole += begins ? 1 : 0;
    const HeldActivations now{whole / chunks, weights / chunks};
    if (now.whole + weight_share * now.weights > peak.whole + weight_share * peak.weights) { peak = now; }
    const bool ends = task.kind != PipelineTask::Kind::forward && task.kind != PipelineTask::Kind::backward_weight;
    whole -= ends ? 1 : 0;
    if (task.kind == PipelineTask::Kind::backward_input) { ++weights; }
    if (task.kind == PipelineTask::Kind::backward_weight) { --weights; }
  }
  return peak;
}

}  // namespace athanor
