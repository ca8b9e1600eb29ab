#include "models/execution/repetition.hpp"

#include <utility>

namespace athanor {

Repetition::Repetition(Simulator& simulator, Executor& executor, NetworkSubstrate& network,
                       const MappedSchedule& mapped, double error)
    : simulator_(simulator),
      executor_(executor),
      network_(network),
      mapped_(mapped),
      id_(simulator.add(*this)),
      pace_(error),
      steps_(simulator, executor, network, mapped, error) {
  executor.observe(*this);
}

void Repetition::primitive_ended(const EndedPrimitive& primitive) {
  if (steps_.primitive_ended(primitive)) { simulator_.at_end_of_instant(id_); }
}

void Repetition::loop_ended(LaneIndex lane) {
  constexpr std::uint64_t kFewest = 3;  // loops still to come, below which looking costs more than it saves
  if (!pilot_chosen_ || !executor_.runs(pilot_) || executor_.lane(pilot_).call != pilot_call_) { choose_pilot(); }
  if (lane == pilot_ && executor_.lane(lane).loop + kFewest < mapped_.lanes[lane].loops) {
    loop_is_over_ = true;
    simulator_.at_end_of_instant(id_);
  }
}

void Repetition::call_ended(LaneIndex lane) {
  if (lane != executor_.kernels()->lanes(KernelIndex{0}).front()) { return; }
  call_is_over_ = true;
  simulator_.at_end_of_instant(id_);
}

void Repetition::choose_pilot() {
  pilot_chosen_ = false;
  for (const LaneIndex lane : mapped_.lanes.ids()) {
    if (!executor_.runs(lane) || (pilot_chosen_ && mapped_.lanes[lane].loops <= mapped_.lanes[pilot_].loops)) {
      continue;
    }
    pilot_ = lane;
    pilot_chosen_ = true;
  }
  pilot_call_ = executor_.lane(pilot_).call;
  next_anchor_ = 1;
  previous_ = {};
  anchor_ = {};
  pace_.forget();
  pace_anchor_ = {};
}

void Repetition::on_end_of_instant() {
  if (!simulator_.instant_is_over()) {
    simulator_.at_end_of_instant(id_);  // the network still has something to do at this instant: look again after it
    return;
  }
  const bool loop_is_over = std::exchange(loop_is_over_, false);
  if (std::exchange(call_is_over_, false)) {
    look_at_calls(take());
  } else if (loop_is_over) {
    look_at_loops(take());
  }
  steps_.look();
}

void Repetition::look_at_loops(Snapshot now) {
  if (repeat(previous_, now) || repeat(anchor_, now) || look_at_pace(now)) {
    previous_ = {};
    anchor_ = {};
    pace_.forget();
    pace_anchor_ = {};
    return;
  }
  const std::uint64_t loop = executor_.lane(pilot_).loop;
  if (loop >= next_anchor_) {
    anchor_ = now;
    next_anchor_ = 2 * loop;
  }
  previous_ = std::move(now);
}

void Repetition::look_at_calls(Snapshot now) {
  constexpr std::size_t kLongest = 4;  // calls in a period
  for (const Snapshot& before : calls_) {
    if (!repeat_calls(before, now)) { continue; }
    calls_.clear();
    return;
  }
  if (calls_.size() == kLongest) { calls_.erase(calls_.begin()); }
  calls_.push_back(std::move(now));
}

Repetition::Snapshot Repetition::take() const {
  Snapshot snapshot;
  snapshot.when = simulator_.now();
  for (const LaneIndex lane : mapped_.lanes.ids()) { snapshot.loops.push_back(executor_.loops_ended(lane)); }
  executor_.snapshot(snapshot.state, Executor::Place::step);
  network_.snapshot(snapshot.state);
  for (const LinkIndex link : mapped_.network.graph.links.ids()) { snapshot.carried.push_back(network_.carried(link)); }
  return snapshot;
}

/// The last loop of a call, and what follows it, is none of those that repeat.
bool Repetition::within_one_call(const Snapshot& before, const Snapshot& now) const {
  for (const LaneIndex lane : now.loops.ids()) {
    const std::uint64_t loops = mapped_.lanes[lane].loops;
    if (loops > 0 && before.loops[lane] / loops != now.loops[lane] / loops) { return false; }
  }
  return true;
}

bool Repetition::repeat(const Snapshot& before, const Snapshot& now) {
  if (before.state.empty() || before.state != now.state || !within_one_call(before, now)) { return false; }
  IdVector<LaneIndex, std::uint64_t> advance;
  for (const LaneIndex lane : now.loops.ids()) {
    advance.push_back(now.loops[lane] - before.loops[lane]);
    if (advance.back() != 0 && advance.back() != now.loops[pilot_] - before.loops[pilot_]) { return false; }
  }
  return multiply(before, now, advance);
}

/// Multiplies loops if they have settled since the last anchor.
bool Repetition::look_at_pace(const Snapshot& now) {
  if (!pace_.is_wanted()) { return false; }
  if (!pace_anchor_.state.empty()) {
    if (now.loops[pilot_] < pace_anchor_.loops[pilot_] + pace_.fewest()) { return false; }
    if (have_settled(pace_anchor_, now)) { return true; }
  }
  pace_anchor_ = now;
  return false;
}

bool Repetition::have_settled(const Snapshot& before, const Snapshot& now) {
  const std::uint64_t loops = now.loops[pilot_] - before.loops[pilot_];
  if (!pace_.is_kept(loops, now.when - before.when) || !within_one_call(before, now)) { return false; }
  IdVector<LaneIndex, std::uint64_t> advance;
  for (const LaneIndex lane : now.loops.ids()) {
    const bool works = executor_.runs(lane);
    if (works && !Pace::keeps_up(now.loops[lane] - before.loops[lane], loops)) { return false; }
    advance.push_back(works ? loops : 0);
  }
  const std::uint64_t skipped = skipped_;
  if (!multiply(before, now, advance)) { return false; }
  settled_ += skipped_ - skipped;
  return true;
}

bool Repetition::multiply(const Snapshot& before, const Snapshot& now,
                          const IdVector<LaneIndex, std::uint64_t>& advance) {
  const std::uint64_t times = executor_.repeats(advance);
  if (times == 0) { return false; }
  const Time by = (now.when - before.when) * static_cast<std::int64_t>(times);
  simulator_.fast_forward(by);
  executor_.skip(times, advance, by);
  network_.fast_forward(by, static_cast<std::int64_t>(times), before.carried);
  skipped_ += times * advance[pilot_];
  return true;
}

bool Repetition::repeat_calls(const Snapshot& before, const Snapshot& now) {
  if (before.state != now.state) { return false; }
  const LaneIndex first = executor_.kernels()->lanes(KernelIndex{0}).front();
  const std::uint64_t calls = (now.loops[first] - before.loops[first]) / mapped_.lanes[first].loops;
  for (const LaneIndex lane : now.loops.ids()) {
    const MappedSchedule::Lane& mapped = mapped_.lanes[lane];
    const bool works = mapped.steps > 0 && mapped.loops > 0;
    if (works && now.loops[lane] - before.loops[lane] != calls * mapped.loops) { return false; }
  }
  const auto advance = static_cast<std::uint32_t>(calls);
  period_ = {now.when - before.when, advance};
  const std::uint64_t times = executor_.call_repeats(advance);
  if (times == 0) { return false; }
  const Time by = (now.when - before.when) * static_cast<std::int64_t>(times);
  simulator_.fast_forward(by);
  executor_.skip_calls(static_cast<std::uint32_t>(times) * advance, by);
  network_.fast_forward(by, static_cast<std::int64_t>(times), before.carried);
  skipped_ += times * calls * mapped_.lanes[first].loops;
  previous_ = {};
  anchor_ = {};
  return true;
}

}  // namespace athanor
