#include "models/execution/processors.hpp"

namespace athanor {

Processors::Processors(Simulator& simulator, const ThreadCosts& costs, PrimitiveWork& work, std::uint32_t processors)
    : simulator_(simulator),
      costs_(costs),
      work_(work),
      id_(simulator.add(*this)),
      lanes_(work.lanes()),
      processors_(processors) {}

void Processors::at(Time when, Kind kind, std::uint32_t index) {
  simulator_.at(when, id_, std::uint64_t{static_cast<std::uint32_t>(kind)} << 32U | index);
}

void Processors::launch() {
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

void Processors::on_event(std::uint64_t what) {
  const auto index = static_cast<std::uint32_t>(what);
  switch (static_cast<Kind>(what >> 32U)) {
    case Kind::notice: return enqueue(index);
    case Kind::awake: return take_next(index);
    case Kind::turn: return take_up(index);
  }
}

void Processors::wake(std::uint32_t lane, std::uint32_t by) {
  const Time notice = this->notice(by, lane);
  if (notice == Time::zero()) { return enqueue(lane); }
  at(simulator_.now() + notice, Kind::notice, lane);
}

void Processors::enqueue(std::uint32_t lane) {
  if (lanes_[lane].activity != Activity::blocked || runner_->ended(lane)) { return; }
  lanes_[lane].activity = Activity::queued;
  const std::uint32_t index = work_.processor(lane);
  Processor& processor = processors_[index];
  processor.queue.push_back(lane);
  if (processor.busy) { return; }
  processor.busy = true;
  const bool asleep = simulator_.now() - processor.idle_since > costs_.patience;
  at(simulator_.now() + (asleep ? costs_.wake : Time::zero()), Kind::awake, index);
}

void Processors::take_next(std::uint32_t index) {
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

void Processors::take_up(std::uint32_t lane) {
  if (runner_->startable(lane)) { return runner_->begin_soon(lane); }
  lanes_[lane].activity = Activity::blocked;
  take_next(work_.processor(lane));
}

void Processors::released(std::uint32_t lane) { take_up(lane); }

}  // namespace athanor
