#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "models/traces/kineto/profile.hpp"

namespace athanor {

/// One event of a profile while its keys arrive, in any order.
struct ProfileEvent {
  std::string phase;
  std::string category;
  std::string name;
  ProfileTime start = 0;
  ProfileTime duration = 0;
  bool timed = false;  ///< both of these were there
  std::uint64_t correlation = 0;
  std::uint64_t external = 0;
  std::int64_t device = 0;
  std::int64_t stream = -1;
  std::int64_t waits_for = -1;
  std::uint64_t recorded_by = 0;
  RecordedCollective collective;
};

/// Takes events over into a profile and drops what plays no part.
class EventSink {
 public:
  explicit EventSink(GpuProfile& profile) : profile_(profile) {}
  void take(ProfileEvent& event);

 private:
  void take_gpu(ProfileEvent& event, bool kernel);
  void take_call(const ProfileEvent& event);
  void take_wait(const ProfileEvent& event);
  std::uint32_t stream(std::int64_t device, std::int64_t number);
  std::uint32_t name(std::string_view text);
  std::uint32_t add_collective(RecordedCollective& collective);

  GpuProfile& profile_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> streams_;
};

}  // namespace athanor
