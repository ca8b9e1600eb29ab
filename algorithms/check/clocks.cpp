#include "algorithms/check/clocks.hpp"

#include <algorithm>

namespace athanor {

Clocks::Clocks(const Wiring& wiring, const ClockScope& scope, std::uint32_t slots)
    : wiring_(wiring), scope_(scope), slots_(slots), history_(wiring.lanes.size()) {
  std::size_t total = 0;
  for (const std::uint32_t width : scope.width) {
    offset_.push_back(total);
    total += width;
  }
  clocks_.resize(total);
  if (!scope.over_messages) { return; }
  sent_.resize(wiring.receivers.size());
  received_.resize(wiring.receivers.size());
  messages_.resize(wiring.receivers.size() * slots * scope.message_width());
  releases_.resize(messages_.size());
}

void Clocks::start(const Execution& execution) {
  const std::span<std::uint32_t> mine = own(execution.lane);
  const auto& wait = execution.primitive.wait;
  if (wait && wait->ended > 0 && !mine.empty()) {
    const std::uint32_t awaited = wiring_.index(wiring_.lanes[execution.lane].agent, wait->lane);
    join(mine, history_[awaited].data() + (wait->ended - 1) * mine.size());
  }
  if (!scope_.over_messages) { return; }
  for (std::uint32_t i = 0; i < execution.primitive.receives.count; ++i) {
    const std::uint32_t connection = execution.first_received + i;
    join(mine, slot(messages_, connection, received_[connection]));
  }
  for (const std::uint32_t connection : execution.sent) {
    if (sent_[connection] >= slots_) { join(mine, slot(releases_, connection, sent_[connection])); }
  }
}

void Clocks::end(const Execution& execution) {
  const std::span<std::uint32_t> mine = own(execution.lane);
  const std::uint32_t component = scope_.component[execution.lane];
  if (component != ClockScope::kNotFollowed) { mine[component] = static_cast<std::uint32_t>(execution.index + 1); }
  if (scope_.awaited[execution.lane]) {
    history_[execution.lane].insert(history_[execution.lane].end(), mine.begin(), mine.end());
  }
  if (!scope_.over_messages) { return; }
  for (std::uint32_t i = 0; i < execution.primitive.receives.count; ++i) {
    const std::uint32_t connection = execution.first_received + i;
    std::copy(mine.begin(), mine.end(), slot(releases_, connection, received_[connection]++));
  }
  for (const std::uint32_t connection : execution.sent) {
    std::copy(mine.begin(), mine.end(), slot(messages_, connection, sent_[connection]++));
  }
}

std::uint32_t* Clocks::slot(Ring& ring, std::uint32_t connection, std::uint64_t message) const {
  return ring.data() + (connection * std::uint64_t{slots_} + message % slots_) * scope_.message_width();
}

void Clocks::join(std::span<std::uint32_t> into, const std::uint32_t* from) {
  for (std::size_t i = 0; i < into.size(); ++i) { into[i] = std::max(into[i], from[i]); }
}

}  // namespace athanor
