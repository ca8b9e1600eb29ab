#include "models/execution/repetition.hpp"

namespace athanor {

Repetition::Repetition(Simulator& simulator, Executor& executor, NetworkSubstrate& network,
                       const MappedSchedule& mapped)
    : simulator_(simulator), executor_(executor), network_(network), mapped_(mapped), id_(simulator.add(*this)) {
  executor.observe(*this);
}

void Repetition::loop_ended(LaneIndex lane) {
  constexpr std::uint64_t kFewest = 3;  // loops still to come, below which looking costs more than it saves
  if (!pilot_chosen_ || !executor_.runs(pilot_)) { choose_pilot(); }
  if (lane == pilot_ && executor_.lane(lane).loop + kFewest < mapped_.lanes[lane].loops) {
    simulator_.at_end_of_instant(id_);
  }
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
  next_anchor_ = 1;
  previous_ = {};
  anchor_ = {};
}

void Repetition::on_end_of_instant() {
  if (!simulator_.instant_is_over()) {
    simulator_.at_end_of_instant(id_);  // the network still has something to do at this instant: look again after it
    return;
  }
  Snapshot now = take();
  if (repeat(previous_, now) || repeat(anchor_, now)) {
    previous_ = {};
    anchor_ = {};
    return;
  }
  const std::uint64_t loop = now.loops[pilot_];
  if (loop >= next_anchor_) {
    anchor_ = now;
    next_anchor_ = 2 * loop;
  }
  previous_ = std::move(now);
}

Repetition::Snapshot Repetition::take() const {
  Snapshot snapshot;
  snapshot.when = simulator_.now();
  for (const LaneIndex lane : mapped_.lanes.ids()) { snapshot.loops.push_back(executor_.lane(lane).loop); }
  executor_.snapshot(snapshot.state);
  network_.snapshot(snapshot.state);
  for (const LinkIndex link : mapped_.network.graph.links.ids()) { snapshot.carried.push_back(network_.carried(link)); }
  return snapshot;
}

bool Repetition::repeat(const Snapshot& before, const Snapshot& now) {
  if (before.state.empty() || before.state != now.state) { return false; }
  IdVector<LaneIndex, std::uint64_t> advance;
  for (const LaneIndex lane : now.loops.ids()) {
    advance.push_back(now.loops[lane] - before.loops[lane]);
    if (advance.back() != 0 && advance.back() != now.loops[pilot_] - before.loops[pilot_]) { return false; }
  }
  const std::uint64_t times = executor_.repeats(advance);
  if (times == 0) { return false; }
  const Time by = (now.when - before.when) * static_cast<std::int64_t>(times);
  simulator_.fast_forward(by);
  executor_.skip(times, advance);
  network_.fast_forward(by, static_cast<std::int64_t>(times), before.carried);
  skipped_ += times * advance[pilot_];
  return true;
}

}  // namespace athanor
