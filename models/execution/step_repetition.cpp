#include "models/execution/step_repetition.hpp"

#include <utility>

namespace athanor {

namespace {

constexpr std::uint64_t kFirstLook = 8;  // steps in which a pipeline hardly ever settles
constexpr std::uint64_t kFirstPace = 16;
constexpr std::uint64_t kNumbers = 10;  // of a state that are gathered in a thirtieth of the time of a primitive

}  // namespace

StepRepetition::StepRepetition(Simulator& simulator, Executor& executor, NetworkSubstrate& network,
                               const MappedSchedule& mapped, double error)
    : simulator_(simulator), executor_(executor), network_(network), mapped_(mapped), pace_(error) {}

void StepRepetition::begin_with(LaneIndex pilot) {
  pilot_ = pilot;
  pilot_loop_ = executor_.loops_ended(pilot);
  ended_ = 0;
  primitives_ = executor_.primitives();
  stride_ = 0;
  next_look_ = kFirstLook;
  recurrence_.forget();
  due_ = 0;
  next_pace_ = kFirstPace;
  pace_.forget();
  pace_anchor_ = {};
}

bool StepRepetition::primitive_ended(const EndedPrimitive& primitive) {
  const std::uint32_t steps = mapped_.lanes[primitive.lane].steps;
  if (primitive.step == 0 && steps >= kFewest) {
    const bool over = pilot_ == Executor::kNobody || executor_.loops_ended(pilot_) != pilot_loop_;
    if (over || steps > mapped_.lanes[pilot_].steps) { begin_with(primitive.lane); }
  }
  if (primitive.lane != pilot_) { return false; }
  ++ended_;
  wanted_ = wanted_ || ended_ >= next_look_ || (pace_.is_wanted() && ended_ >= next_pace_);
  return wanted_;
}

void StepRepetition::look() {
  if (!std::exchange(wanted_, false)) { return; }
  Snapshot now = take();
  if (pace_.is_wanted() && ended_ >= next_pace_ && look_at_pace(now)) { return begin_with(pilot_); }
  if (ended_ >= next_look_) { look_at(std::move(now)); }
}

void StepRepetition::look_at(Snapshot now) {
  if (stride_ == 0) {
    const std::uint64_t by_step = (executor_.primitives() - primitives_) / ended_ + 1;
    stride_ = now.state.size() / (kNumbers * by_step) + 1;
  }
  next_look_ = ended_ + stride_;
  const auto distance = recurrence_.look(now.state);
  if (recurrence_.looks() == due_ && repeat(anchor_, now)) { return begin_with(pilot_); }
  if (!distance || recurrence_.looks() < due_) { return; }
  due_ = recurrence_.looks() + *distance;
  anchor_ = std::move(now);
  anchor_.carried = carried();
}

bool StepRepetition::look_at_pace(const Snapshot& now) {
  if (have_settled(pace_anchor_, now)) { return true; }
  pace_anchor_ = now;
  pace_anchor_.carried = carried();
  next_pace_ = 2 * ended_;
  return false;
}

StepRepetition::Snapshot StepRepetition::take() const {
  Snapshot snapshot;
  snapshot.when = simulator_.now();
  for (const LaneIndex lane : mapped_.lanes.ids()) {
    snapshot.loops.push_back(executor_.loops_ended(lane));
    snapshot.steps.push_back(executor_.lane(lane).step);
  }
  executor_.snapshot(snapshot.state, Executor::Place::likeness);
  network_.snapshot(snapshot.state);
  return snapshot;
}

CarriedBytes StepRepetition::carried() const {
  CarriedBytes carried;
  for (const LinkIndex link : mapped_.network.graph.links.ids()) { carried.push_back(network_.carried(link)); }
  return carried;
}

bool StepRepetition::repeat(const Snapshot& before, const Snapshot& now) {
  if (before.state.empty() || before.state != now.state || before.loops != now.loops) { return false; }
  IdVector<LaneIndex, std::uint32_t> advance;
  for (const LaneIndex lane : now.steps.ids()) { advance.push_back(now.steps[lane] - before.steps[lane]); }
  return multiply(before, now, advance);
}

bool StepRepetition::have_settled(const Snapshot& before, const Snapshot& now) {
  if (before.state.empty() || before.loops != now.loops) { return false; }
  const std::uint32_t steps = now.steps[pilot_] - before.steps[pilot_];
  if (!pace_.is_kept(steps, now.when - before.when)) { return false; }
  IdVector<LaneIndex, std::uint32_t> advance;
  for (const LaneIndex lane : now.steps.ids()) {
    const std::uint32_t own = now.steps[lane] - before.steps[lane];
    const bool works = executor_.runs(lane);
    if (works && !Pace::keeps_up(own, steps)) { return false; }
    advance.push_back(works ? steps : 0);
  }
  const std::uint64_t skipped = skipped_;
  if (!multiply(before, now, advance)) { return false; }
  settled_ += skipped_ - skipped;
  return true;
}

bool StepRepetition::multiply(const Snapshot& before, const Snapshot& now,
                              const IdVector<LaneIndex, std::uint32_t>& advance) {
  const std::uint64_t times = executor_.step_repeats(advance);
  if (times == 0) { return false; }
  const Time by = (now.when - before.when) * static_cast<std::int64_t>(times);
  simulator_.fast_forward(by);
  executor_.skip_steps(static_cast<std::uint32_t>(times), advance, by);
  network_.fast_forward(by, static_cast<std::int64_t>(times), before.carried);
  skipped_ += times * advance[pilot_];
  return true;
}

}  // namespace athanor
