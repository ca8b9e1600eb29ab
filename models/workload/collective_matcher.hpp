#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/workload/workload.hpp"

namespace athanor {

/// One operation of one worker.
struct OperationId {
  std::uint32_t worker = 0;
  std::uint32_t operation = 0;
};

/// Brings those together who do one thing together: the k-th calls of a communicator's workers in the order of their
/// programs, the k-th send over a channel and the k-th receive.
class CollectiveMatcher {
 public:
  /// Borrows the workload.
  explicit CollectiveMatcher(const Workload& workload);

  /// All who take part, the last one to come at the end; of messages sender and receiver, in the order in which they
  /// came.
  using Members = std::vector<OperationId>;

  /// A worker has come to a call. Returns all members where it is the last one.
  /// Throws SimulationError("mismatch") where it calls something else than those who came before.
  std::optional<Members> call(OperationId who);
  /// A worker has come to an end of a message.
  std::optional<Members> message(OperationId who);

  /// Of an operation that has come and waits: for whom. For telling of a deadlock.
  std::vector<std::uint32_t> missing(OperationId who) const;

 private:
  struct Turn {  ///< of a communicator: its k-th call
    Members members;
    bool done = false;  ///< all have come, and are forgotten
  };
  struct Room {               ///< of a communicator
    std::uint64_t first = 0;  ///< the number of the first call in `open`
    std::deque<Turn> open;
  };
  struct Ends {  ///< of a channel: what has come of one side and waits for the other
    std::deque<OperationId> sends;
    std::deque<OperationId> receives;
  };

  const Workload::Operation& operation(OperationId who) const {
    return workload_.workers[who.worker].operations[who.operation];
  }
  void number_calls(const Workload::Worker& worker);
  void check_same(OperationId first, OperationId other) const;

  const Workload& workload_;
  std::vector<std::vector<std::uint32_t>> turns_;  ///< by worker and operation: which of its calls of a communicator
  std::vector<Room> rooms_;
  std::vector<Ends> ends_;
};

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
