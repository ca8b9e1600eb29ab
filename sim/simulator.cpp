#include "sim/simulator.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {
/// An event's order holds its sequence number above and its actor below: one compare, no further field.
constexpr unsigned kActorBits = 8;
constexpr std::uint64_t kActorMask = (1U << kActorBits) - 1;
}  // namespace

ActorId Simulator::add(Actor& actor) {
  require(actors_.size() < kActorMask, "a simulator holds at most {} actors", kActorMask);
  actors_.push_back(&actor);
  asked_.push_back(false);
  return ActorId{static_cast<std::uint32_t>(actors_.size() - 1)};
}

void Simulator::at(Time when, ActorId actor, std::uint64_t what) {
  require(when >= now_, "an event at {} ps lies before now, {} ps", when.count(), now_.count());
  queue_.push({when, scheduled_++ << kActorBits | actor.value, what});
}

void Simulator::at_rank(Time when, ActorId actor, std::uint64_t what, std::uint64_t rank) {
  require(when >= now_, "an event at {} ps lies before now, {} ps", when.count(), now_.count());
  require(rank < kRanks, "rank {} of an event", rank);
  queue_.push({when, (kRanks | rank) << kActorBits | actor.value, what});
}

void Simulator::at_end_of_instant(ActorId actor) {
  if (asked_[actor.value]) { return; }
  asked_[actor.value] = true;
  asking_.push_back(actor);
}

void Simulator::end_instant_of_next() {
  const ActorId actor = asking_[next_asking_++];
  if (instant_is_over()) {
    asking_.clear();
    next_asking_ = 0;
  }
  asked_[actor.value] = false;
  actors_[actor.value]->on_end_of_instant();
}

bool Simulator::run_until(Time last) {
  for (;;) {
    while (!queue_.empty() && queue_.top().when == now_) {
      const Event event = queue_.top();
      queue_.pop();
      ++events_;
      actors_[event.order & kActorMask]->on_event(event.what);
    }
    if (!instant_is_over()) {
      end_instant_of_next();
      continue;
    }
    if (queue_.empty()) { return true; }
    if (queue_.top().when > last) { return false; }
    if (stop_.stop_requested()) { throw Interrupted(); }
    now_ = queue_.top().when;
  }
}

void Simulator::fast_forward(Time by) {
  require(by >= Time::zero() && instant_is_over(),
          "only an instant that is over can be skipped from, and only forward");
  now_ += by;
  queue_.delay(by);
}

}  // namespace athanor
