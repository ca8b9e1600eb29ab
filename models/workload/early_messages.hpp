#pragma once

#include <algorithm>
#include <deque>
#include <optional>

#include "models/workload/collective_matcher.hpp"

namespace athanor {

/// Messages of one channel that move before their receivers have come. The k-th receiver gets the k-th message, also
/// where a later one has arrived before it.
class EarlyMessages {
 public:
  struct Pair {
    OperationId sender;
    OperationId receiver;
  };

  void sent(OperationId sender) { sent_.push_back({sender, false}); }
  void arrived(OperationId sender) {
    const auto is = [&](const Sent& each) { return each.sender.operation == sender.operation && !each.arrived; };
    std::find_if(sent_.begin(), sent_.end(), is)->arrived = true;
  }
  void receives(OperationId receiver) { receivers_.push_back(receiver); }

  /// A message that has arrived, and who waits for it, if there is one.
  std::optional<Pair> take() {
    if (receivers_.empty() || sent_.empty() || !sent_.front().arrived) { return std::nullopt; }
    const Pair pair{sent_.front().sender, receivers_.front()};
    sent_.pop_front();
    receivers_.pop_front();
    return pair;
  }

 private:
  struct Sent {
    OperationId sender;
    bool arrived = false;
  };
  std::deque<Sent> sent_;
  std::deque<OperationId> receivers_;
};

}  // namespace athanor
