#include <algorithm>
#include <map>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/training/pipeline/times.hpp"

using namespace athanor;

namespace {

using Kind = PipelineTask::Kind;

/// The end of a schedule by repeating "a task ends when what it needs has ended, and the task before it" until nothing
/// changes. Tasks that never end are left out.
class NaiveTimes {
 public:
  NaiveTimes(const PipelineSchedule& schedule, const PipelineDurations& durations)
      : schedule_(schedule), durations_(durations) {
    while (sweep()) {}
  }

  Time end() const {
    Time last;
    for (const auto& [task, time] : ends_) { last = std::max(last, time); }
    return last;
  }

 private:
  using Pass = std::tuple<bool, std::uint32_t, std::uint32_t>;  ///< forward?, entry of stage_chunks, micro-batch

  bool sweep() {
    bool changed = false;
    for (std::uint32_t stage = 0; stage < schedule_.stages; ++stage) {
      Time before;
      for (std::size_t t = 0; t < schedule_.tasks[stage].size(); ++t) {
        const std::optional<Time> end = end_of(stage, schedule_.tasks[stage][t], before);
        if (!end) { break; }
        before = *end;
        changed = note(stage, t, *end) || changed;
      }
    }
    return changed;
  }

  bool note(std::uint32_t stage, std::size_t t, Time end) {
    const PipelineTask& task = schedule_.tasks[stage][t];
    const bool fresh = ends_.emplace(std::pair(stage, t), end).second;
    if (task.kind == Kind::forward || task.kind == Kind::forward_backward) {
      passes_[{true, entry(stage, task.chunk), task.micro_batch}] = end;
    }
    if (task.kind == Kind::backward || task.kind == Kind::backward_input) {
      passes_[{false, entry(stage, task.chunk), task.micro_batch}] = end;
    }
    if (task.kind == Kind::forward_backward) { passes_[{false, entry(stage, task.other_chunk), task.other}] = end; }
    return fresh;
  }

  std::uint32_t entry(std::uint32_t stage, std::uint32_t chunk) const {
    const auto found = std::find(schedule_.stage_chunks.begin(), schedule_.stage_chunks.end(),
                                 PipelineSchedule::StageChunk{stage, chunk});
    return static_cast<std::uint32_t>(found - schedule_.stage_chunks.begin());
  }

  std::optional<Time> arrival(const Pass& pass, std::uint32_t at) const {
    const auto found = passes_.find(pass);
    if (found == passes_.end()) { return std::nullopt; }
    const bool stays = schedule_.stage_chunks[std::get<1>(pass)].stage == schedule_.stage_chunks[at].stage;
    return found->second + (stays ? Time::zero() : durations_.message);
  }

  std::vector<std::optional<Time>> needs(std::uint32_t stage, const PipelineTask& task) const {
    std::vector<std::optional<Time>> needs;
    const std::uint32_t here = entry(stage, task.chunk);
    const auto add_backward = [&](std::uint32_t at, std::uint32_t m) {
      needs.push_back(arrival({true, at, m}, at));
      if ((at + 1) % schedule_.places() != 0) { needs.push_back(arrival({false, at + 1, m}, at)); }
    };
    if (task.kind == Kind::backward_weight) { needs.push_back(arrival({false, here, task.micro_batch}, here)); }
    if (task.kind == Kind::backward || task.kind == Kind::backward_input) { add_backward(here, task.micro_batch); }
    if (task.kind == Kind::forward_backward) { add_backward(entry(stage, task.other_chunk), task.other); }
    const bool goes = task.kind == Kind::forward || task.kind == Kind::forward_backward;
    if (goes && here % schedule_.places() != 0) { needs.push_back(arrival({true, here - 1, task.micro_batch}, here)); }
    return needs;
  }

  std::optional<Time> end_of(std::uint32_t stage, const PipelineTask& task, Time before) const {
    for (const std::optional<Time>& need : needs(stage, task)) {
      if (!need) { return std::nullopt; }
      before = std::max(before, *need);
    }
    const Time lengths[] = {durations_.forward, durations_.backward_input + durations_.backward_weight,
                            durations_.backward_input, durations_.backward_weight, durations_.forward_backward};
    return before + lengths[static_cast<std::size_t>(task.kind)];
  }

  const PipelineSchedule& schedule_;
  const PipelineDurations& durations_;
  std::map<Pass, Time> passes_;
  std::map<std::pair<std::uint32_t, std::size_t>, Time> ends_;
};

std::vector<PipelineDurations> lengths() {
  return {{Time{10}, Time{10}, Time{10}, Time{25}, Time{0}},
          {Time{10}, Time{12}, Time{8}, Time{30}, Time{3}},
          {Time{3}, Time{2}, Time{1}, Time{6}, Time{1}},
          {Time{4}, Time{9}, Time{7}, Time{16}, Time{5}},
          {Time{2}, Time{3}, Time{8}, Time{13}, Time{0}}};
}

}  // namespace

TEST_CASE("times of a schedule are the least that its order and its dependencies allow") {
  for (const PipelineDurations& durations : lengths()) {
    for (const std::uint32_t p : {1U, 2U, 4U}) {
      std::vector<PipelineSchedule> schedules{
          pipeline_schedule(PipelineKind::gpipe, p, 1, 5),       pipeline_schedule(PipelineKind::one_f_one_b, p, 1, 7),
          pipeline_schedule(PipelineKind::interleaved, p, 3, 9), pipeline_schedule(PipelineKind::zb_h1, p, 1, 6),
          pipeline_schedule(PipelineKind::zb_h2, p, 1, 9),       pipeline_schedule(PipelineKind::zb_v, p, 2, 8)};
      if (p % 2 == 0) { schedules.push_back(pipeline_schedule(PipelineKind::dual_pipe, p, 1, 10)); }
      for (const PipelineSchedule& schedule : schedules) {
        CHECK(pipeline_times(schedule, durations).end() == NaiveTimes(schedule, durations).end());
      }
    }
  }
}
