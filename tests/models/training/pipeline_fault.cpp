#include "tests/models/training/pipeline_fault.hpp"

#include <fmt/core.h>

#include "models/training/pipeline/times.hpp"

namespace athanor::testing {

std::uint32_t replica_of(const PipelineSchedule& schedule, std::uint32_t micro_batch) {
  return static_cast<std::uint32_t>(std::uint64_t{micro_batch} * schedule.replicas / schedule.micro_batches);
}

namespace {

using Kind = PipelineTask::Kind;

/// What every micro-batch has had at every place.
class PassLedger {
 public:
  explicit PassLedger(const PipelineSchedule& schedule)
      : schedule_(schedule), had_(std::size_t{schedule.stages} * schedule.chunks * schedule.micro_batches) {}

  /// Notes a task down. What is wrong with it, or nothing.
  std::optional<std::string> note(std::uint32_t stage, const PipelineTask& task) {
    switch (task.kind) {
      case Kind::forward: return note(stage, task.chunk, task.micro_batch, kForward);
      case Kind::backward: return note(stage, task.chunk, task.micro_batch, kInput | kWeight);
      case Kind::backward_input: return note(stage, task.chunk, task.micro_batch, kInput);
      case Kind::backward_weight: return note(stage, task.chunk, task.micro_batch, kWeight);
      case Kind::forward_backward: {
        if (auto fault = note(stage, task.chunk, task.micro_batch, kForward)) { return fault; }
        return note(stage, task.other_chunk, task.other, kInput | kWeight);
      }
    }
    return std::nullopt;
  }

  /// What is missing of all that there is to do, or nothing.
  std::optional<std::string> missing() const {
    const std::vector<std::uint32_t> entries = schedule_.entries();
    for (std::uint32_t seat = 0; seat < entries.size(); ++seat) {
      const std::uint32_t replica = entries[seat] / schedule_.places();
      for (std::uint32_t m = 0; m < schedule_.micro_batches; ++m) {
        const bool passes = replica_of(schedule_, m) == replica;
        const std::uint8_t had = had_[std::size_t{seat} * schedule_.micro_batches + m];
        if (had == (passes ? kForward | kInput | kWeight : 0)) { continue; }
        return fmt::format("micro-batch {} {} chunk {} of stage {}", m,
                           passes ? "does not have all of its work at" : "goes through another replica, not through",
                           seat % schedule_.chunks, seat / schedule_.chunks);
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint8_t kForward = 1;
  static constexpr std::uint8_t kInput = 2;
  static constexpr std::uint8_t kWeight = 4;

  std::optional<std::string> note(std::uint32_t stage, std::uint32_t chunk, std::uint32_t micro_batch,
                                  std::uint8_t work) {
    if (chunk >= schedule_.chunks || micro_batch >= schedule_.micro_batches) {
      return fmt::format("stage {} has no micro-batch {} of chunk {}", stage, micro_batch, chunk);
    }
    std::uint8_t& had = had_[(std::size_t{stage} * schedule_.chunks + chunk) * schedule_.micro_batches + micro_batch];
    const bool needs_input = work == kWeight && (had & kInput) == 0;
    if ((had & work) != 0 || needs_input) {
      return fmt::format("stage {} does work on micro-batch {} of chunk {} {}", stage, micro_batch, chunk,
                         needs_input ? "before what it needs" : "twice");
    }
    had = static_cast<std::uint8_t>(had | work);
    return std::nullopt;
  }

  const PipelineSchedule& schedule_;
  std::vector<std::uint8_t> had_;  ///< by stage, chunk and micro-batch
};

bool seats_are_distinct(const PipelineSchedule& schedule) {
  std::vector<bool> taken(std::size_t{schedule.stages} * schedule.chunks);
  for (const PipelineSchedule::StageChunk& seat : schedule.stage_chunks) {
    if (seat.stage >= schedule.stages || seat.chunk >= schedule.chunks) { return false; }
    const std::size_t number = std::size_t{seat.stage} * schedule.chunks + seat.chunk;
    if (taken[number]) { return false; }
    taken[number] = true;
  }
  return schedule.stage_chunks.size() == taken.size();
}

}  // namespace

std::optional<std::string> fault_in(const PipelineSchedule& schedule) {
  if (schedule.tasks.size() != schedule.stages || !seats_are_distinct(schedule)) {
    return "its stages, chunks and places do not agree";
  }
  PassLedger ledger(schedule);
  std::size_t tasks = 0;
  for (std::uint32_t stage = 0; stage < schedule.stages; ++stage) {
    tasks += schedule.tasks[stage].size();
    for (const PipelineTask& task : schedule.tasks[stage]) {
      if (auto fault = ledger.note(stage, task)) { return fault; }
    }
  }
  if (auto fault = ledger.missing()) { return fault; }
  const std::size_t done = pipeline_times(schedule, PipelineDurations{}).done;
  if (done == tasks) { return std::nullopt; }
  return fmt::format("{} of {} tasks wait for ever, for each other", tasks - done, tasks);
}

}  // namespace athanor::testing
