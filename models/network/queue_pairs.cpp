#include "models/network/queue_pairs.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/ratio.hpp"

namespace athanor {

QueuePairs::QueuePairs(MoveListener& listener, std::size_t connections, std::uint32_t pairs)
    : listener_(listener),
      pairs_(pairs),
      injected_(connections * pairs),
      grains_(connections * pairs),
      delivered_(connections * pairs) {
  require(pairs > 0, "connections of no queue pair");
}

void QueuePairs::move(ConnectionId connection, Bytes size) {
  Bytes before;
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    const Bytes end = scaled_down(size, {pair + 1, pairs_});
    network_->move(ConnectionId{connection.value * pairs_ + pair}, end - before);
    before = end;
  }
}

/// One message more of this part. Whether that makes one message more of all parts.
bool QueuePairs::completes(Ahead& ahead, ConnectionId part) const {
  const auto first = ahead.begin() + static_cast<std::ptrdiff_t>(part.value / pairs_ * pairs_);
  const auto last = first + pairs_;
  ++ahead[part];
  if (std::find(first, last, 0U) != last) { return false; }
  std::for_each(first, last, [](std::uint32_t& each) { --each; });
  return true;
}

void QueuePairs::injected(ConnectionId part) {
  if (completes(injected_, part)) { listener_.injected(whole(part)); }
}

void QueuePairs::grain_arrived(ConnectionId part) {
  if (completes(grains_, part)) { listener_.grain_arrived(whole(part)); }
}

void QueuePairs::delivered(ConnectionId part) {
  if (completes(delivered_, part)) { listener_.delivered(whole(part)); }
}

void QueuePairs::snapshot(std::vector<std::int64_t>& state) const {
  network_->snapshot(state);
  for (const Ahead* ahead : {&injected_, &grains_, &delivered_}) {
    state.insert(state.end(), ahead->begin(), ahead->end());
  }
}

}  // namespace athanor
