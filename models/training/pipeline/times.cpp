#include "models/training/pipeline/times.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

using Kind = PipelineTask::Kind;

/// Carries a schedule out: stages go on until what they need is not there, and are looked at again when it comes.
class PipelineClock {
 public:
  PipelineClock(const PipelineSchedule& schedule, const std::vector<PipelineDurations>& durations)
      : schedule_(schedule),
        durations_(durations),
        entries_(schedule.entries()),
        forward_(schedule.stage_chunks.size() * schedule.micro_batches, kNever),
        backward_(forward_),
        next_(schedule.stages) {
    times_.stages.resize(schedule.stages);
  }

  PipelineTimes run() {
    for (std::uint32_t stage = 0; stage < schedule_.stages; ++stage) { awake_.push_back(stage); }
    while (!awake_.empty()) {
      const std::uint32_t stage = awake_.back();
      awake_.pop_back();
      work(stage);
    }
    return std::move(times_);
  }

 private:
  static constexpr Time kNever{-1};

  std::size_t cell(std::uint32_t entry, std::uint32_t micro_batch) const {
    return std::size_t{entry} * schedule_.micro_batches + micro_batch;
  }
  std::uint32_t entry(std::uint32_t stage, std::uint32_t chunk) const {
    return entries_[std::size_t{stage} * schedule_.chunks + chunk];
  }
  const PipelineDurations& at(std::uint32_t entry) const { return durations_[entry % schedule_.places()]; }
  Time sent(Time done, std::uint32_t from, std::uint32_t to) const {
    const bool stays = schedule_.stage_chunks[from].stage == schedule_.stage_chunks[to].stage;
    return done == kNever || stays ? done : done + at(std::min(from, to)).message;
  }

  /// When what they need is there; kNever: nobody knows yet.
  Time forward_ready(std::uint32_t entry, std::uint32_t micro_batch) const {
    if (entry % schedule_.places() == 0) { return Time::zero(); }
    return sent(forward_[cell(entry - 1, micro_batch)], entry - 1, entry);
  }
  Time backward_ready(std::uint32_t entry, std::uint32_t micro_batch) const {
    const Time own = forward_[cell(entry, micro_batch)];
    if (own == kNever || entry % schedule_.places() + 1 == schedule_.places()) { return own; }
    const Time behind = sent(backward_[cell(entry + 1, micro_batch)], entry + 1, entry);
    return behind == kNever ? kNever : std::max(own, behind);
  }
  Time ready(std::uint32_t stage, const PipelineTask& task) const {
    const std::uint32_t place = entry(stage, task.chunk);
    switch (task.kind) {
      case Kind::forward: return forward_ready(place, task.micro_batch);
      case Kind::backward:
      case Kind::backward_input: return backward_ready(place, task.micro_batch);
      case Kind::backward_weight: return backward_[cell(place, task.micro_batch)];
      case Kind::forward_backward: {
        const Time forward = forward_ready(place, task.micro_batch);
        const Time backward = backward_ready(entry(stage, task.other_chunk), task.other);
        return forward == kNever || backward == kNever ? kNever : std::max(forward, backward);
      }
    }
    return kNever;
  }

  Time duration(std::uint32_t stage, const PipelineTask& task) const {
    const PipelineDurations& own = at(entry(stage, task.chunk));
    switch (task.kind) {
      case Kind::forward: return own.forward;
      case Kind::backward: return own.backward_input + own.backward_weight;
      case Kind::backward_input: return own.backward_input;
      case Kind::backward_weight: return own.backward_weight;
      case Kind::forward_backward: return own.forward_backward;
    }
    return Time::zero();
  }

  void forward_ends(std::uint32_t place, std::uint32_t micro_batch, Time when) {
    forward_[cell(place, micro_batch)] = when;
    if (place + 1 < schedule_.stage_chunks.size()) { awake_.push_back(schedule_.stage_chunks[place + 1].stage); }
  }
  void backward_ends(std::uint32_t place, std::uint32_t micro_batch, Time when) {
    backward_[cell(place, micro_batch)] = when;
    if (place > 0) { awake_.push_back(schedule_.stage_chunks[place - 1].stage); }
  }
  void end(std::uint32_t stage, const PipelineTask& task, Time when) {
    const std::uint32_t place = entry(stage, task.chunk);
    if (task.kind == Kind::forward || task.kind == Kind::forward_backward) {
      forward_ends(place, task.micro_batch, when);
    }
    if (task.kind == Kind::backward || task.kind == Kind::backward_input) {
      backward_ends(place, task.micro_batch, when);
    }
    if (task.kind == Kind::forward_backward) { backward_ends(entry(stage, task.other_chunk), task.other, when); }
  }

  void work(std::uint32_t stage) {
    const std::vector<PipelineTask>& tasks = schedule_.tasks[stage];
    PipelineTimes::Stage& times = times_.stages[stage];
    for (; next_[stage] < tasks.size(); ++next_[stage]) {
      const PipelineTask& task = tasks[next_[stage]];
      const Time there = ready(stage, task);
      if (there == kNever) { return; }
      const Time begin = std::max(there, times.end);
      if (next_[stage] == 0) { times.begin = begin; }
      const Time takes = duration(stage, task);
      times.end = begin + takes;
      times.busy = times.busy + takes;
      ++times_.done;
      end(stage, task, times.end);
    }
  }

  const PipelineSchedule& schedule_;
  const std::vector<PipelineDurations>& durations_;  ///< by place
  std::vector<std::uint32_t> entries_;
  std::vector<Time> forward_;   ///< by entry and micro-batch: when it ended
  std::vector<Time> backward_;  ///< of inputs, or whole
  std::vector<std::size_t> next_;
  std::vector<std::uint32_t> awake_;
  PipelineTimes times_;
};

}  // namespace

Time PipelineTimes::end() const {
  Time last;
  for (const Stage& stage : stages) { last = std::max(last, stage.end); }
  return last;
}

Time PipelineTimes::longest() const {
  Time longest;
  for (const Stage& stage : stages) { longest = std::max(longest, stage.end - stage.begin); }
  return longest;
}

PipelineTimes pipeline_times(const PipelineSchedule& schedule, const PipelineDurations& durations) {
  return pipeline_times(schedule, std::vector<PipelineDurations>(schedule.places(), durations));
}

PipelineTimes pipeline_times(const PipelineSchedule& schedule, const std::vector<PipelineDurations>& durations) {
  require(durations.size() == schedule.places(), "durations of {} places, of {}", durations.size(), schedule.places());
  return PipelineClock(schedule, durations).run();
}

}  // namespace athanor
