#include "models/execution/thread_substrate.hpp"

#include "models/execution/executor.hpp"

namespace athanor {

ThreadSubstrate::ThreadSubstrate(Simulator& simulator, const MappedSchedule& mapped, const ThreadCosts& costs,
                                 PrimitiveWork& work, std::uint32_t processors)
    : simulator_(simulator),
      mapped_(mapped),
      costs_(costs),
      work_(work),
      id_(simulator.add(*this)),
      lanes_(work.lanes()),
      processors_(processors) {}

void ThreadSubstrate::at(Time when, Kind kind, std::uint32_t index) {
  simulator_.at(when, id_, std::uint64_t{static_cast<std::uint32_t>(kind)} << 32U | index);
}

void ThreadSubstrate::launched() {
  for (const LaneIndex lane : lanes_.ids()) {
    lanes_[lane].activity = Activity::queued;
    processors_[processor(lane)].queue.push_back(lane);
  }
  const Time start = costs_.start + (processors_.size() > 1 ? costs_.meeting : Time::zero());
  for (std::uint32_t processor = 0; processor < processors_.size(); ++processor) {
    processors_[processor].busy = true;
    at(simulator_.now() + start, Kind::awake, processor);
  }
}

void ThreadSubstrate::on_event(std::uint64_t event) {
  const auto index = static_cast<std::uint32_t>(event);
  switch (static_cast<Kind>(event >> 32U)) {
    case Kind::notice: enqueue(LaneIndex{index}); break;
    case Kind::awake: take_next(index); break;
    case Kind::turn: take_up(LaneIndex{index}); break;
    case Kind::send: send(LaneIndex{index}); break;
    case Kind::message: executor_->usable(ConnectionId{index}); break;
  }
  executor_->drain();
}

/// Until the second lane can know what the first one has done.
Time ThreadSubstrate::notice(LaneIndex lane, LaneIndex other) const {
  return processor(lane) == processor(other) ? Time::zero() : costs_.notice;
}

void ThreadSubstrate::wake(LaneIndex lane, LaneIndex by) {
  const Time notice = this->notice(by, lane);
  if (notice == Time::zero()) { return enqueue(lane); }
  at(simulator_.now() + notice, Kind::notice, lane.value);
}

void ThreadSubstrate::enqueue(LaneIndex lane) {
  if (lanes_[lane].activity != Activity::blocked || executor_->lane(lane).phase == Executor::Phase::ended) { return; }
  lanes_[lane].activity = Activity::queued;
  const std::uint32_t index = processor(lane);
  Processor& self = processors_[index];
  self.queue.push_back(lane);
  if (self.busy) { return; }
  self.busy = true;
  const bool asleep = simulator_.now() - self.idle_since > costs_.patience;
  at(simulator_.now() + (asleep ? costs_.wake : Time::zero()), Kind::awake, index);
}

void ThreadSubstrate::take_next(std::uint32_t index) {
  Processor& self = processors_[index];
  if (self.queue.empty()) {
    self.busy = false;
    self.idle_since = simulator_.now();
    return;
  }
  const LaneIndex lane = self.queue.front();
  self.queue.pop_front();
  lanes_[lane].activity = Activity::running;
  at(simulator_.now() + costs_.turn + (lanes_[lane].known ? Time::zero() : costs_.lane), Kind::turn, lane.value);
  lanes_[lane].known = true;
}

void ThreadSubstrate::take_up(LaneIndex lane) {
  if (executor_->startable(lane)) {
    executor_->queue(lane);
    return executor_->drain();
  }
  lanes_[lane].activity = Activity::blocked;
  take_next(processor(lane));
}

void ThreadSubstrate::begin(LaneIndex lane) {
  const Time work = work_.of(lane.value, executor_->lane(lane).primitives_ended);
  if (work == Time::zero()) { return send(lane); }
  at(simulator_.now() + work, Kind::send, lane.value);
}

void ThreadSubstrate::send(LaneIndex lane) {
  executor_->send(lane);
  for (const ConnectionId connection : executor_->sends_of(lane)) {
    const Time notice = this->notice(lane, mapped_.connections[connection].target_lane);
    if (notice == Time::zero()) {
      executor_->usable(connection);
    } else {
      at(simulator_.now() + notice, Kind::message, connection.value);
    }
  }
  executor_->part_ended(lane);
}

}  // namespace athanor
