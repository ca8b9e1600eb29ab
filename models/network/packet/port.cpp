#include "models/network/packet/port.hpp"

#include <algorithm>

namespace athanor {

/// Strict priority: of what is ready when the transmitter is free the first class; else what is ready first.
Port::Choice Port::choose() const {
  Choice best;
  for (auto open = static_cast<std::uint32_t>(waiting_ & ~stopped_); open != 0; open &= open - 1) {
    const auto number = static_cast<std::uint32_t>(__builtin_ctz(open));
    const Service& service = services_[number];
    const Time start = std::max({free_, service.queue.front().ready, service.resumed});
    if (start < best.start) { best = {number, start}; }
  }
  return best;
}

void Port::apply_pause() {
  const Pause& pause = pauses_.front();
  const std::uint32_t bit = 1U << pause.service;
  if (pause.stop) {
    stopped_ = static_cast<std::uint8_t>(stopped_ | bit);
  } else {
    stopped_ = static_cast<std::uint8_t>(stopped_ & ~bit);
    services_[pause.service].resumed = pause.when;
  }
  pauses_.pop();
  pausing_ = !pauses_.empty();
}

bool Port::depart(Time until, Departure& departure) {
  for (;;) {
    const Choice choice = choose();
    const Time last = std::min(choice.start, until);
    if (pausing_ && pauses_.front().when <= last && pauses_.front().when < until) {
      apply_pause();
      continue;
    }
    if (choice.start >= until) { return false; }
    Service& service = services_[choice.service];
    departure.packet = service.queue.front().packet;
    service.queue.pop();
    free_ = choice.start + duration(departure.packet.bytes);
    departure.end = free_;
    service.bytes -= departure.packet.bytes;
    bytes_ -= departure.packet.bytes;
    if (service.queue.empty()) { waiting_ = static_cast<std::uint8_t>(waiting_ & ~(1U << choice.service)); }
    return true;
  }
}

bool Port::stopped(std::uint8_t service, Time now) {
  while (pausing_ && pauses_.front().when <= now) { apply_pause(); }
  return (stopped_ >> service & 1U) != 0;
}

Time Port::next_start() const {
  const Time start = choose().start;
  return !pausing_ ? start : std::min(start, pauses_.front().when);
}

}  // namespace athanor
