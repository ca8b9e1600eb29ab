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

void QueuePairs::move(std::uint32_t connection, Bytes size) {
  Bytes before;
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    const Bytes end = scaled_down(size, {pair + 1, pairs_});
    network_->move(connection * pairs_ + pair, end - before);
    before = end;
  }
}

/// One message more of this part. Whether that makes one message more of all parts.
bool QueuePairs::completes(Ahead& ahead, std::uint32_t part) const {
  const auto first = ahead.begin() + static_cast<std::ptrdiff_t>(part / pairs_ * pairs_);
  const auto last = first + pairs_;
  ++ahead[part];
  if (std::find(first, last, 0U) != last) { return false; }
  std::for_each(first, last, [](std::uint32_t& each) { --each; });
  return true;
}

void QueuePairs::injected(std::uint32_t part) {
  if (completes(injected_, part)) { listener_.injected(part / pairs_); }
}

void QueuePairs::grain_arrived(std::uint32_t part) {
  if (completes(grains_, part)) { listener_.grain_arrived(part / pairs_); }
}

void QueuePairs::delivered(std::uint32_t part) {
  if (completes(delivered_, part)) { listener_.delivered(part / pairs_); }
}

void QueuePairs::snapshot(std::vector<std::int64_t>& state) const {
  network_->snapshot(state);
  for (const Ahead* ahead : {&injected_, &grains_, &delivered_}) {
    state.insert(state.end(), ahead->begin(), ahead->end());
  }
}

}  // namespace athanor
