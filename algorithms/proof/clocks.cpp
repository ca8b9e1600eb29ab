#include "algorithms/proof/clocks.hpp"

#include <algorithm>

namespace athanor {

namespace {

constexpr auto kByLane = [](const auto& entry, std::uint32_t lane) { return entry.lane < lane; };

}  // namespace

Clocks::Clocks(const Wiring& wiring, const ClockScope& scope, std::uint32_t slots)
    : wiring_(wiring),
      scope_(scope),
      slots_(slots),
      clocks_(wiring.lanes.size()),
      history_(wiring.lanes.size()),
      sent_(scope.over_messages ? wiring.receivers.size() : 0),
      received_(sent_.size()),
      messages_(sent_.size() * slots),
      releases_(messages_.size()) {}

std::span<const Clocks::Entry> Clocks::History::after(std::uint64_t primitives) const {
  if (primitives == 0) { return {}; }
  const std::size_t first = primitives == 1 ? 0 : ends[primitives - 2];
  return std::span(entries).subspan(first, ends[primitives - 1] - first);
}

std::uint64_t Clocks::ended(std::uint32_t lane, std::uint32_t other) const {
  const auto entry = std::lower_bound(clocks_[lane].begin(), clocks_[lane].end(), other, kByLane);
  return entry != clocks_[lane].end() && entry->lane == other ? entry->ended : 0;
}

void Clocks::start(const Execution& execution) {
  Clock& mine = clocks_[execution.lane];
  if (const auto& wait = execution.primitive.wait) {
    join(mine, history_[wiring_.index(wiring_.lanes[execution.lane].agent, wait->lane)].after(wait->ended));
  }
  if (!scope_.over_messages) { return; }
  for (std::uint32_t i = 0; i < execution.primitive.receives.count; ++i) {
    const std::uint32_t connection = execution.first_received + i;
    join(mine, messages_[slot(connection, received_[connection])]);
  }
  for (const std::uint32_t connection : execution.sent) {
    if (sent_[connection] >= slots_) { join(mine, releases_[slot(connection, sent_[connection])]); }
  }
}

void Clocks::end(const Execution& execution) {
  if (scope_.followed[execution.lane]) { advance(execution.lane, execution.index + 1); }
  const Clock& mine = clocks_[execution.lane];
  if (scope_.awaited[execution.lane]) {
    History& history = history_[execution.lane];
    history.entries.insert(history.entries.end(), mine.begin(), mine.end());
    history.ends.push_back(history.entries.size());
  }
  if (!scope_.over_messages) { return; }
  for (std::uint32_t i = 0; i < execution.primitive.receives.count; ++i) {
    const std::uint32_t connection = execution.first_received + i;
    releases_[slot(connection, received_[connection]++)] = mine;
  }
  for (const std::uint32_t connection : execution.sent) { messages_[slot(connection, sent_[connection]++)] = mine; }
}

void Clocks::advance(std::uint32_t lane, std::uint64_t ended) {
  Clock& mine = clocks_[lane];
  const auto entry = std::lower_bound(mine.begin(), mine.end(), lane, kByLane);
  if (entry == mine.end() || entry->lane != lane) {
    mine.insert(entry, {lane, ended});
  } else {
    entry->ended = ended;
  }
}

/// Most joins tell of no new lane; only the others make a new list.
void Clocks::join(Clock& into, std::span<const Entry> from) {
  auto mine = into.begin();
  auto next = from.begin();
  for (; next != from.end(); ++next) {
    while (mine != into.end() && mine->lane < next->lane) { ++mine; }
    if (mine == into.end() || mine->lane != next->lane) { break; }
    mine->ended = std::max(mine->ended, next->ended);
  }
  if (next == from.end()) { return; }
  joined_.assign(into.begin(), mine);
  for (; next != from.end(); ++next) {
    for (; mine != into.end() && mine->lane < next->lane; ++mine) { joined_.push_back(*mine); }
    joined_.push_back(*next);
    if (mine == into.end() || mine->lane != next->lane) { continue; }
    joined_.back().ended = std::max(mine->ended, next->ended);
    ++mine;
  }
  joined_.insert(joined_.end(), mine, into.end());
  into.swap(joined_);
}

}  // namespace athanor
