#include "models/network/packet/port.hpp"

#include <algorithm>

namespace athanor {

void Port::await_credits(std::uint32_t blocks) {
  credits_ = std::make_unique<PortCredits>();
  credited_ = true;
  for (PortCredits::Lane& lane : credits_->lanes) { lane.limit = blocks; }
}

/// A class stops while its first packet has no room at the far end.
void Port::check_credit(std::uint32_t service) {
  const Ring<Waiting>& queue = services_[service].queue;
  if (queue.empty()) { return; }
  const std::uint32_t needed = PortCredits::blocks(queue.front().packet.bytes);
  if (credits_->lanes[service].room() < needed) { stopped_ = static_cast<std::uint8_t>(stopped_ | 1U << service); }
}

/// A packet has come that may be the first of its class.
[[gnu::noinline]] void Port::note_enqueued(std::uint32_t service, Time ready) {
  check_credit(service);
  apply_pauses(ready);
}

[[gnu::noinline]] void Port::note_departed(std::uint32_t service, std::uint32_t bytes) {
  credits_->lanes[service].sent += PortCredits::blocks(bytes);
  check_credit(service);
}

void Port::apply_pause() {
  const Pause& pause = pauses_->front();
  const std::uint32_t bit = 1U << pause.service;
  if (credits_) {
    credits_->lanes[pause.service].limit = pause.limit;
    if ((stopped_ & bit) != 0) {
      stopped_ = static_cast<std::uint8_t>(stopped_ & ~bit);
      services_[pause.service].resumed = pause.when;
      check_credit(pause.service);
    }
  } else if (pause.stop) {
    stopped_ = static_cast<std::uint8_t>(stopped_ | bit);
  } else {
    stopped_ = static_cast<std::uint8_t>(stopped_ & ~bit);
    services_[pause.service].resumed = pause.when;
  }
  pauses_->pop();
  pausing_ = !pauses_->empty();
}

void Port::apply_pauses(Time now) {
  while (pausing_ && pauses_->front().when <= now) { apply_pause(); }
}

bool Port::stopped(std::uint8_t service, std::uint32_t bytes, Time now) {
  apply_pauses(now);
  if (credits_ && credits_->lanes[service].room() < PortCredits::blocks(bytes)) { return true; }
  return (stopped_ >> service & 1U) != 0;
}

void Port::delay(Time by) {
  free_ += by;
  leaving_end_ += by;
  for (Service& service : services_) {
    service.resumed += by;
    for (std::uint32_t k = 0; k < service.queue.size(); ++k) { service.queue.at(k).ready += by; }
  }
  for (std::uint32_t k = 0; pauses_ && k < pauses_->size(); ++k) { pauses_->at(k).when += by; }
}

bool Port::stands(std::uint8_t service) const {
  for (std::uint32_t p = 0; pauses_ && p < pauses_->size(); ++p) {
    if (pauses_->at(p).service == service && !pauses_->at(p).stop) { return false; }
  }
  return (stopped_ >> service & 1U) != 0;
}

Time Port::next_start() const {
  const Time start = choose().start;
  return !pausing_ ? start : std::min(start, pauses_->front().when);
}

}  // namespace athanor
