#pragma once

#include <array>
#include <vector>

#include "models/execution/execution_observer.hpp"

namespace athanor {

/// How many bytes were on their way out of their senders when, in as few parts of time as memory stays small with.
class SendingOverTime {
 public:
  /// Spreads bytes evenly over that time. Requires begin <= end.
  void add(Time begin, Time end, Bytes bytes);

  /// The share of all bytes that left in each of so many equal parts of the time from 0 to `until`; what left later is
  /// in none. All zero where nothing was sent. Requires parts >= 1 and until > 0.
  std::vector<double> shares(std::size_t parts, Time until) const;

 private:
  static constexpr std::size_t kParts = 4096;
  void widen();

  std::array<double, kParts> bytes_{};
  double total_ = 0;
  Time width_{1'000};  ///< of a part
};

/// When a pipeline is full and when it begins to empty: listens to a run of every loop.
///
/// It fills until the last of the lanes that receive has ended its first primitive that does, and drains from when the
/// first of the lanes that send has ended its last one that does. Times are the executor's, without the launch.
class PipelinePhases final : public ExecutionObserver {
 public:
  void primitive_ended(const EndedPrimitive& primitive) override;

  /// Zero where nothing was received.
  Time filled() const;
  /// Not before filled(): what never flows steadily fills and drains.
  Time draining() const;
  /// Of all lanes that were simulated; of those that share a class one counts.
  const SendingOverTime& sending() const { return sending_; }

 private:
  struct Lane {
    bool receives = false;
    bool sends = false;
    Time first_received;
    Time last_sent;
  };
  IdVector<LaneIndex, Lane> lanes_;
  SendingOverTime sending_;
};

}  // namespace athanor
