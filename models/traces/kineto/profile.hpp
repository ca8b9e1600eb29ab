#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/byte_source.hpp"

namespace athanor {

/// Nanoseconds since some beginning, as the profiler counts: picoseconds since 1970 do not fit into 64 bits.
using ProfileTime = std::int64_t;

/// What a profile of PyTorch says about a call of NCCL.
struct RecordedCollective {
  std::uint64_t event = 0;  ///< of the profile, from 1
  std::string name;         ///< "allreduce", "_allgather_base", ...
  std::string group;
  std::string description;  ///< of the group
  std::string ranks;        ///< "[0, 1, ...]", cut after 30
  std::string type;         ///< "BFloat16"
  std::string in_split;     ///< "[1, 2]" or ""
  std::string out_split;
  std::int64_t in_elements = -1;  ///< -1: not said
  std::int64_t out_elements = -1;
  std::int64_t group_size = -1;
  std::int64_t from = -1;  ///< rank within the group
  std::int64_t to = -1;
  std::int64_t root = -1;
};

/// Of one rank, without what plays no part here.
struct GpuProfile {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct GpuOperation {
    ProfileTime start = 0;
    ProfileTime end = 0;
    std::uint64_t correlation = 0;  ///< with the call that launched it
    std::uint64_t external = 0;     ///< with the operator that caused it
    std::uint32_t name = 0;         ///< of `names`
    std::uint32_t stream = 0;       ///< of `streams`
    std::uint32_t collective = kNone;
    bool communicates = false;
  };
  /// Of the CUDA runtime or driver: what launches, waits or records an event.
  struct CpuCall {
    enum class Kind : std::uint8_t { other, waits_for_gpu, makes_stream_wait };
    ProfileTime start = 0;
    ProfileTime end = 0;
    std::uint64_t correlation = 0;
    Kind kind = Kind::other;
  };
  /// That a stream waits for an event of another one, where the profiler was told to record it.
  struct StreamWait {
    ProfileTime at = 0;
    std::uint64_t correlation = 0;
    std::uint64_t recorded_by = 0;  ///< correlation of the call that recorded the event
    std::uint32_t stream = 0;
    std::uint32_t waits_for = 0;
  };
  struct Step {
    std::string name;
    ProfileTime start = 0;
    ProfileTime end = 0;
  };

  std::string file;
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> world;
  std::map<std::string, std::string, std::less<>> groups;  ///< ranks by name of a process group
  std::vector<GpuOperation> operations;
  std::vector<CpuCall> calls;
  std::vector<StreamWait> waits;
  std::vector<Step> steps;
  std::vector<RecordedCollective> collectives;
  std::unordered_map<std::uint64_t, std::uint32_t> recorded;  ///< collectives by the external id of their operator
  std::vector<std::string> names;
  std::vector<std::string> streams;  ///< "stream 7"
  std::uint64_t events = 0;          ///< of any kind
  std::uint64_t backward = 0;        ///< that end before they begin, and are left out
};

/// Reads a profile event by event. Throws ScenarioError where it is no JSON or cut off, and where an event's time is no
/// number.
GpuProfile read_profile(ByteSource& source);

}  // namespace athanor
