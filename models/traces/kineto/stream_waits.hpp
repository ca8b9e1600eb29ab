#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/traces/kineto/profile.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

/// Keeps of a profile what was launched within the step of that name, or number ("ProfilerStep#12", "12"); all where it
/// is "". Complains where there is no such step.
void choose_step(GpuProfile& profile, const std::string& step, WorkloadDraft& draft);

/// Sorts calls by their beginning, and operations by the call that launched them, then by their own beginning.
void sort_by_launch(GpuProfile& profile);

/// What operations of the GPU wait for across streams, found while they are launched one after the other. Requires a
/// profile that is sorted by launch, and outlives this.
class StreamWaits {
 public:
  static constexpr std::size_t kNoCall = SIZE_MAX;

  explicit StreamWaits(const GpuProfile& profile);

  /// Index of the call that launched an operation.
  std::size_t call_of(std::size_t operation) const { return call_of_[operation]; }
  /// A call has let some stream wait for something.
  void make_wait() { waiting_ = true; }
  /// The operation is launched; `depends` is called for each that it waits for. In ascending order.
  void launch(std::size_t operation, const std::function<void(std::size_t)>& depends);
  /// Of the operations before `launched`, that which ended last between the two times.
  std::optional<std::size_t> last_ended(ProfileTime from, ProfileTime to, std::size_t launched) const;

 private:
  struct Stream {
    std::vector<std::size_t> launched;  ///< ends ascend
    bool communicates = false;
  };

  void launch_after_events(std::size_t operation, const std::function<void(std::size_t)>& depends);
  void launch_after_guess(std::size_t operation, const std::function<void(std::size_t)>& depends);
  std::optional<std::size_t> last_on(std::uint32_t stream, ProfileTime ended_by) const;

  const GpuProfile& profile_;
  std::vector<std::size_t> call_of_;
  std::vector<Stream> streams_;
  std::vector<std::vector<GpuProfile::StreamWait>> events_;  ///< by stream that waits, in the order of time
  std::vector<std::size_t> next_event_;
  std::unordered_map<std::uint64_t, ProfileTime> recorded_at_;  ///< when calls that record events began
  std::optional<std::size_t> last_computation_;
  bool knows_waits_ = false;  ///< calls that let streams wait were recorded
  bool waiting_ = false;
};

}  // namespace athanor
