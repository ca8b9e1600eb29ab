#include "algorithms/proof/round_clock.hpp"

#include <algorithm>

namespace athanor {

std::uint32_t RoundClock::round_of(const Execution& execution) {
  const Primitive& primitive = execution.primitive;
  std::vector<std::uint32_t>& own = ends_[execution.lane];
  std::uint32_t round = own.empty() ? 0 : own.back();
  if (primitive.wait && primitive.wait->ended > 0) {
    const std::uint32_t other = wiring_.index(wiring_.lanes[execution.lane].agent, primitive.wait->lane);
    round = std::max(round, ends_[other][primitive.wait->ended - 1]);
  }
  for (std::uint32_t i = 0; i < primitive.receives.count; ++i) {
    std::deque<std::uint32_t>& arrived = arrived_[execution.first_received + i];
    round = std::max(round, arrived.front());
    arrived.pop_front();
  }
  round += execution.sent.empty() ? 0 : 1;
  own.push_back(round);
  for (const std::uint32_t connection : execution.sent) { arrived_[connection].push_back(round); }
  return round;
}

}  // namespace athanor
