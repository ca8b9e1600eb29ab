#include "models/training/pipeline/timed_schedule.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "sim/check.hpp"

namespace athanor {

namespace {

using Kind = PipelineTask::Kind;

struct GreedyRules {
  bool keep_order = false;      ///< of forwards and backwards, as drawn
  bool backward_first = false;  ///< where it is not kept
  bool fill_all = false;        ///< weights go into every gap, also those that are shorter
};

/// Makes a schedule in the order of time: what a stage does next is decided when it is free.
class GreedyPipeline {
 public:
  /// `limit`: in chunks' activations.
  GreedyPipeline(const PipelineSchedule& drawn, const PipelineDurations& durations, std::uint32_t limit,
                 GreedyRules rules)
      : drawn_(drawn),
        durations_(durations),
        rules_(rules),
        limit_(limit),
        entries_(drawn.entries()),
        forward_(drawn.seats.size() * drawn.micro_batches),
        backward_(forward_.size()),
        places_(drawn.seats.size()),
        stages_(drawn.stages) {}

  /// Nothing where the order that is kept needs more memory.
  std::optional<PipelineSchedule> make() {
    for (std::uint32_t stage = 0; stage < drawn_.stages; ++stage) {
      stages_[stage].order.reserve(drawn_.tasks[stage].size());
      decisions_.push({Time::zero(), stage});
    }
    while (!decisions_.empty()) {
      const auto [now, stage] = decisions_.top();
      decisions_.pop();
      if (now >= stages_[stage].free) { decide(stage, now); }
    }
    PipelineSchedule made = drawn_;
    for (std::uint32_t stage = 0; stage < drawn_.stages; ++stage) {
      if (stages_[stage].order.size() != drawn_.tasks[stage].size()) { return std::nullopt; }
      made.tasks[stage] = std::move(stages_[stage].order);
    }
    return made;
  }

 private:
  struct Place {
    std::uint32_t forwards = 0;  ///< begun
    std::uint32_t backwards = 0;
  };
  struct StageState {
    Time free;
    Time waited;  ///< since its first task
    std::uint32_t held = 0;
    std::uint32_t next_drawn = 0;  ///< where the order is kept
    std::size_t next_weight = 0;   ///< into `weights`
    std::vector<PipelineTask> weights;
    std::vector<PipelineTask> order;
  };
  struct Option {
    PipelineTask task;
    Time ready;
  };

  std::uint32_t place_of(std::uint32_t stage, std::uint32_t chunk) const {
    return entries_[std::size_t{stage} * drawn_.chunks + chunk];
  }
  std::size_t cell(std::uint32_t place, std::uint32_t micro_batch) const {
    return std::size_t{place} * drawn_.micro_batches + micro_batch;
  }
  Time sent(Time done, std::uint32_t from, std::uint32_t to) const {
    return drawn_.seats[from].stage == drawn_.seats[to].stage ? done : done + durations_.message;
  }

  /// The next forward of a chunk; nothing where nobody knows yet when it can begin.
  std::optional<Option> next_forward(std::uint32_t stage, std::uint32_t chunk) const {
    const std::uint32_t place = place_of(stage, chunk);
    const std::uint32_t m = places_[place].forwards;
    if (m == drawn_.micro_batches || (place > 0 && m >= places_[place - 1].forwards)) { return std::nullopt; }
    const Time ready = place == 0 ? Time::zero() : sent(forward_[cell(place - 1, m)], place - 1, place);
    return Option{{.kind = Kind::forward, .chunk = chunk, .micro_batch = m}, ready};
  }
  std::optional<Option> next_backward(std::uint32_t stage, std::uint32_t chunk) const {
    const std::uint32_t place = place_of(stage, chunk);
    const std::uint32_t m = places_[place].backwards;
    const bool last = place + 1 == places_.size();
    if (m >= places_[place].forwards || (!last && m >= places_[place + 1].backwards)) { return std::nullopt; }
    Time ready = forward_[cell(place, m)];
    if (!last) { ready = std::max(ready, sent(backward_[cell(place + 1, m)], place + 1, place)); }
    return Option{{.kind = Kind::backward_input, .chunk = chunk, .micro_batch = m}, ready};
  }

  /// Memory is there for a forward: chunks that are deeper in the model each have room left, so that what has begun
  /// can always end.
  bool has_room(std::uint32_t stage, std::uint32_t chunk) const {
    const std::uint32_t deeper = rules_.keep_order ? 0 : drawn_.chunks - 1 - chunk;
    return stages_[stage].held + 1 + deeper <= limit_;
  }

  /// Forwards and backwards that the stage could do, in the order in which it prefers them.
  void collect(std::uint32_t stage) {
    options_.clear();
    const auto add = [&](const std::optional<Option>& option) {
      if (option) { options_.push_back(*option); }
    };
    const auto add_forward = [&](std::uint32_t chunk) {
      if (has_room(stage, chunk)) { add(next_forward(stage, chunk)); }
    };
    if (rules_.keep_order) {
      StageState& self = stages_[stage];
      const std::vector<PipelineTask>& drawn = drawn_.tasks[stage];
      while (self.next_drawn < drawn.size() && drawn[self.next_drawn].kind == Kind::backward_weight) {
        ++self.next_drawn;
      }
      if (self.next_drawn == drawn.size()) { return; }
      const PipelineTask& task = drawn[self.next_drawn];
      if (task.kind == Kind::forward) { return add_forward(task.chunk); }
      return add(next_backward(stage, task.chunk));
    }
    for (const bool backward : {rules_.backward_first, !rules_.backward_first}) {
      for (std::uint32_t chunk = drawn_.chunks; chunk-- > 0;) {
        if (backward) {
          add(next_backward(stage, chunk));
        } else {
          add_forward(chunk);
        }
      }
    }
  }

  /// A gap until `next` is better used for weights.
  bool fills(const StageState& stage, Time now, Time next) const {
    return rules_.fill_all || next >= now + durations_.backward_weight || stage.waited + (next - now) > most_waited_;
  }

  void decide(std::uint32_t stage, Time now) {
    collect(stage);
    std::optional<Time> next;
    for (const Option& option : options_) {
      if (option.ready <= now) { return begin(stage, option.task, now); }
      next = next ? std::min(*next, option.ready) : option.ready;
    }
    StageState& self = stages_[stage];
    if (self.next_weight < self.weights.size() && (!next || fills(self, now, *next))) {
      return begin(stage, PipelineTask(self.weights[self.next_weight]), now);
    }
    if (next) { decisions_.push({*next, stage}); }
  }

  void begin(std::uint32_t stage, const PipelineTask& task, Time now) {
    StageState& self = stages_[stage];
    if (!self.order.empty()) { self.waited = self.waited + (now - self.free); }
    most_waited_ = std::max(most_waited_, self.waited);
    self.order.push_back(task);
    const std::uint32_t place = place_of(stage, task.chunk);
    if (task.kind == Kind::backward_weight) {
      self.free = now + durations_.backward_weight;
      ++self.next_weight;
      --self.held;
    } else if (task.kind == Kind::forward) {
      self.free = now + durations_.forward;
      ++self.held;
      ++self.next_drawn;
      forward_[cell(place, places_[place].forwards++)] = self.free;
      if (place + 1 < places_.size()) { wake(place, place + 1, self.free); }
    } else {
      self.free = now + durations_.backward_input;
      ++self.next_drawn;
      self.weights.push_back({.kind = Kind::backward_weight, .chunk = task.chunk, .micro_batch = task.micro_batch});
      backward_[cell(place, places_[place].backwards++)] = self.free;
      if (place > 0) { wake(place, place - 1, self.free); }
    }
    decisions_.push({self.free, stage});
  }

  void wake(std::uint32_t from, std::uint32_t to, Time done) {
    const std::uint32_t stage = drawn_.seats[to].stage;
    decisions_.push({std::max(stages_[stage].free, sent(done, from, to)), stage});
  }

  using Decision = std::pair<Time, std::uint32_t>;  ///< when, of which stage

  const PipelineSchedule& drawn_;
  const PipelineDurations& durations_;
  GreedyRules rules_;
  std::uint32_t limit_;
  std::vector<std::uint32_t> entries_;
  std::vector<Time> forward_;   ///< by place and micro-batch: when it ends
  std::vector<Time> backward_;  ///< of inputs
  std::vector<Place> places_;
  std::vector<StageState> stages_;
  Time most_waited_;
  std::vector<Option> options_;
  std::priority_queue<Decision, std::vector<Decision>, std::greater<>> decisions_;
};

bool keeps_within(const PipelineSchedule& schedule, std::uint32_t memory) {
  for (std::uint32_t stage = 0; stage < schedule.stages; ++stage) {
    const HeldActivations peak = peak_activations(schedule, stage);
    if (peak.whole + peak.weights > memory) { return false; }
  }
  return true;
}

}  // namespace

PipelineSchedule timed_pipeline_schedule(PipelineKind kind, std::uint32_t stages, std::uint32_t micro_batches,
                                         const PipelineDurations& durations, std::uint32_t memory) {
  const bool v = kind == PipelineKind::zb_v;
  require(v || kind == PipelineKind::zb_h1 || kind == PipelineKind::zb_h2, "only zero-bubble schedules split backward");
  require(memory > 0, "no memory for a single micro-batch");
  const PipelineSchedule drawn = pipeline_schedule(kind, stages, v ? 2 : 1, micro_batches);
  std::optional<PipelineSchedule> best;
  std::pair<Time, Time> least;
  const auto consider = [&](std::optional<PipelineSchedule> made) {
    if (!made) { return; }
    const PipelineTimes times = pipeline_times(*made, durations);
    const std::pair cost(times.longest(), times.end());
    if (best && cost >= least) { return; }
    best = std::move(made);
    least = cost;
  };
  if (keeps_within(drawn, memory)) { consider(drawn); }
  for (const GreedyRules rules :
       {GreedyRules{true, false, false}, GreedyRules{true, false, true}, GreedyRules{false, true, false},
        GreedyRules{false, true, true}, GreedyRules{false, false, false}, GreedyRules{false, false, true}}) {
    const std::uint64_t limit = std::uint64_t{memory} * drawn.chunks;
    consider(
        GreedyPipeline(drawn, durations, static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, 1U << 31U)), rules)
            .make());
  }
  require(best.has_value(), "no schedule for {} stages and {} micro-batches within {}", stages, micro_batches, memory);
  return std::move(*best);
}

}  // namespace athanor
