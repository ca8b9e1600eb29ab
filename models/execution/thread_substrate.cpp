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
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane].activity = Activity::queued;
    processors_[work_.processor(lane)].queue.push_back(lane);
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
    case Kind::notice: enqueue(index); break;
    case Kind::awake: take_next(index); break;
    case Kind::turn: take_up(index); break;
    case Kind::send: send(index); break;
    case Kind::message: executor_->usable(index); break;
  }
  executor_->drain();
}

/// Until the second lane can know what the first one has done.
Time ThreadSubstrate::notice(std::uint32_t lane, std::uint32_t other) const {
  return work_.processor(lane) == work_.processor(other) ? Time::zero() : costs_.notice;
}

void ThreadSubstrate::wake(std::uint32_t lane, std::uint32_t by) {
  const Time notice = this->notice(by, lane);
  if (notice == Time::zero()) { return enqueue(lane); }
  at(simulator_.now() + notice, Kind::notice, lane);
}

void ThreadSubstrate::enqueue(std::uint32_t lane) {
  if (lanes_[lane].activity != Activity::blocked || executor_->lane(lane).phase == Executor::Phase::ended) { return; }
  lanes_[lane].activity = Activity::queued;
  const std::uint32_t index = work_.processor(lane);
  Processor& processor = processors_[index];
  processor.queue.push_back(lane);
  if (processor.busy) { return; }
  processor.busy = true;
  const bool asleep = simulator_.now() - processor.idle_since > costs_.patience;
  at(simulator_.now() + (asleep ? costs_.wake : Time::zero()), Kind::awake, index);
}

void ThreadSubstrate::take_next(std::uint32_t index) {
  Processor& processor = processors_[index];
  if (processor.queue.empty()) {
    processor.busy = false;
    processor.idle_since = simulator_.now();
    return;
  }
  const std::uint32_t lane = processor.queue.front();
  processor.queue.pop_front();
  lanes_[lane].activity = Activity::running;
  at(simulator_.now() + costs_.turn + (lanes_[lane].known ? Time::zero() : costs_.lane), Kind::turn, lane);
  lanes_[lane].known = true;
}

void ThreadSubstrate::take_up(std::uint32_t lane) {
  if (executor_->startable(lane)) {
    executor_->queue(lane);
    return executor_->drain();
  }
  lanes_[lane].activity = Activity::blocked;
  take_next(work_.processor(lane));
}

void ThreadSubstrate::begin(std::uint32_t lane) {
  const Time work = work_.of(lane, executor_->lane(lane).primitives_ended);
  if (work == Time::zero()) { return send(lane); }
  at(simulator_.now() + work, Kind::send, lane);
}

void ThreadSubstrate::send(std::uint32_t lane) {
  executor_->send(lane);
  const auto [first, last] = executor_->sends_of(lane);
  for (std::uint32_t connection = first; connection < last; ++connection) {
    const Time notice = this->notice(lane, mapped_.connections[connection].target_lane);
    if (notice == Time::zero()) {
      executor_->usable(connection);
    } else {
      at(simulator_.now() + notice, Kind::message, connection);
    }
  }
  executor_->part_ended(lane);
}

}  // namespace athanor
