#include "models/execution/step_repetition.hpp"

#include <cmath>
#include <utility>

namespace athanor {

namespace {

constexpr std::uint64_t kFirstAnchor = 16;   // steps in which a pipeline hardly ever settles
constexpr std::uint64_t kLongestPeriod = 8;  // steps after an anchor that are compared with it

}  // namespace

StepRepetition::StepRepetition(Simulator& simulator, Executor& executor, NetworkSubstrate& network,
                               const MappedSchedule& mapped, double error)
    : simulator_(simulator), executor_(executor), network_(network), mapped_(mapped), error_(error) {}

void StepRepetition::begin_with(LaneIndex pilot) {
  pilot_ = pilot;
  pilot_loop_ = executor_.loops_ended(pilot);
  ended_ = 0;
  next_anchor_ = kFirstAnchor;
  anchor_ = {};
  pace_ = 0;
}

bool StepRepetition::primitive_ended(const EndedPrimitive& primitive) {
  const std::uint32_t steps = mapped_.lanes[primitive.lane].steps;
  if (primitive.step == 0 && steps >= kFewest) {
    const bool over = pilot_ == Executor::kNobody || executor_.loops_ended(pilot_) != pilot_loop_;
    if (over || steps > mapped_.lanes[pilot_].steps) { begin_with(primitive.lane); }
  }
  if (primitive.lane != pilot_) { return false; }
  ++ended_;
  const bool compared = !anchor_.state.empty() && ended_ <= next_anchor_ / 2 + kLongestPeriod;
  wanted_ = wanted_ || compared || ended_ >= next_anchor_;
  return wanted_;
}

void StepRepetition::look() {
  if (!std::exchange(wanted_, false)) { return; }
  Snapshot now = take();
  const bool at_anchor = ended_ >= next_anchor_;
  if (repeat(anchor_, now) || (at_anchor && have_settled(anchor_, now))) {
    begin_with(pilot_);
  } else if (at_anchor) {
    anchor_ = std::move(now);
    next_anchor_ = 2 * ended_;
  }
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
  for (const LinkIndex link : mapped_.network.graph.links.ids()) { snapshot.carried.push_back(network_.carried(link)); }
  return snapshot;
}

bool StepRepetition::repeat(const Snapshot& before, const Snapshot& now) {
  if (before.state.empty() || before.state != now.state || before.loops != now.loops) { return false; }
  IdVector<LaneIndex, std::uint32_t> advance;
  for (const LaneIndex lane : now.steps.ids()) { advance.push_back(now.steps[lane] - before.steps[lane]); }
  return multiply(before, now, advance);
}

bool StepRepetition::have_settled(const Snapshot& before, const Snapshot& now) {
  if (error_ <= 0 || before.state.empty() || before.loops != now.loops) { return false; }
  const std::uint32_t steps = now.steps[pilot_] - before.steps[pilot_];
  const double pace = static_cast<double>((now.when - before.when).count()) / steps;
  const double last_pace = std::exchange(pace_, pace);
  if (steps * error_ < 1 || std::abs(pace / last_pace - 1) > error_) { return false; }
  IdVector<LaneIndex, std::uint32_t> advance;
  for (const LaneIndex lane : now.steps.ids()) {
    const std::uint32_t own = now.steps[lane] - before.steps[lane];
    const bool works = executor_.runs(lane);
    if (works && own + 1 != steps && own != steps && own != steps + 1) { return false; }
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
