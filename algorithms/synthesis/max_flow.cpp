#include "algorithms/synthesis/max_flow.hpp"

#include <algorithm>

namespace athanor {

std::uint32_t MaxFlow::add(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
  const auto arc = static_cast<std::uint32_t>(other_.size());
  other_.insert(other_.end(), {to, from});
  previous_.insert(previous_.end(), {first_[from], first_[to]});
  capacity_.insert(capacity_.end(), {capacity, 0});
  first_[from] = arc;
  first_[to] = arc + 1;
  return arc / 2;
}

/// Layers end with that of the sink: beyond it nothing is of use.
bool MaxFlow::find_layers(std::uint32_t source, std::uint32_t sink) {
  std::fill(level_.begin(), level_.end(), kNone);
  queue_.assign(1, source);
  level_[source] = 0;
  for (std::size_t i = 0; i < queue_.size() && level_[sink] == kNone; ++i) {
    for (std::uint32_t arc = first_[queue_[i]]; arc != kNone; arc = previous_[arc]) {
      if (left_[arc] == 0 || level_[other_[arc]] != kNone) { continue; }
      level_[other_[arc]] = level_[queue_[i]] + 1;
      queue_.push_back(other_[arc]);
    }
  }
  return level_[sink] != kNone;
}

std::int64_t MaxFlow::push(std::uint32_t from, std::uint32_t sink, std::int64_t most) {
  if (from == sink || most == 0) { return most; }
  std::int64_t pushed = 0;
  for (std::uint32_t& arc = next_arc_[from]; arc != kNone; arc = previous_[arc]) {
    const std::uint32_t to = other_[arc];
    if (left_[arc] == 0 || level_[to] != level_[from] + 1) { continue; }
    const std::int64_t step = push(to, sink, std::min(most - pushed, left_[arc]));
    left_[arc] -= step;
    left_[arc ^ 1U] += step;
    pushed += step;
    if (pushed == most) { return pushed; }  // the arc may carry more
  }
  return pushed;
}

std::int64_t MaxFlow::flow(std::uint32_t source, std::uint32_t sink, std::int64_t limit) {
  left_ = capacity_;
  std::int64_t total = 0;
  while (total < limit && find_layers(source, sink)) {
    next_arc_ = first_;
    total += push(source, sink, limit - total);
  }
  return total;
}

}  // namespace athanor
