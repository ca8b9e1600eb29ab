#include "sim/simulator.hpp"

#include "sim/check.hpp"

namespace athanor {

namespace {
/// An event's order holds its sequence number above and its actor below: one compare, no further field.
constexpr unsigned kActorBits = 8;
constexpr std::uint64_t kActorMask = (1U << kActorBits) - 1;
}  // namespace

ActorId Simulator::add(Actor& actor) {
  require(actors_.size() < kActorMask, "a simulator holds at most {} actors", kActorMask);
  actors_.push_back(&actor);
  waits_to_settle_.push_back(false);
  return ActorId{static_cast<std::uint32_t>(actors_.size() - 1)};
}

void Simulator::at(Time when, ActorId actor, std::uint64_t what) {
  require(when >= now_, "an event at {} ps lies before now, {} ps", when.count(), now_.count());
  queue_.push({when, scheduled_++ << kActorBits | actor.value, what});
}

void Simulator::settle(ActorId actor) {
  if (waits_to_settle_[actor.value]) { return; }
  waits_to_settle_[actor.value] = true;
  unsettled_.push_back(actor);
}

void Simulator::settle_next() {
  const ActorId actor = unsettled_[next_unsettled_++];
  if (settled()) {
    unsettled_.clear();
    next_unsettled_ = 0;
  }
  waits_to_settle_[actor.value] = false;
  actors_[actor.value]->on_settle();
}

void Simulator::run() {
  for (;;) {
    while (!queue_.empty() && queue_.top().when == now_) {
      const Event event = queue_.top();
      queue_.pop();
      ++events_;
      actors_[event.order & kActorMask]->on_event(event.what);
    }
    if (!settled()) {
      settle_next();
      continue;
    }
    if (queue_.empty()) { return; }
    now_ = queue_.top().when;
  }
}

void Simulator::warp(Time by) {
  require(by >= Time::zero() && settled(), "only a settled simulation can be warped, and only forward");
  now_ += by;
  queue_.delay(by);
}

}  // namespace athanor
