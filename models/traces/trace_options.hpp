#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/workload.hpp"
#include "sim/ratio.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"

namespace athanor {

// What a trace may ask for at most. Files are foreign: a number in them that is beyond these is a mistake or an attack,
// and is refused by its place before anything of that size is made.

/// Ranks, and endpoints that are named.
constexpr std::uint32_t kMostTraceRanks = 1'000'000;
/// Ranks in all groups of all communicators together.
constexpr std::uint64_t kMostGroupMembers = UINT64_C(1) << 25U;
/// Of one worker: operations refer to their stream in 16 bits.
constexpr std::uint32_t kMostStreams = 65'536;
/// Operations that a short text asks for by numbers: stages, repetitions, layers computed once more.
constexpr std::uint64_t kMostWrittenOut = 10'000'000;
/// Bytes of one message, and of what one rank puts into a collective.
constexpr std::int64_t kMostMessage = INT64_MAX / kMostTraceRanks / 8;

/// What may come out of one file, decompressed where it is compressed: of formats that are held in memory whole, and of
/// those that are read piece by piece. TraceOptions::limit takes the place of both.
constexpr Bytes kMostHeld{INT64_C(1) << 30};
constexpr Bytes kMostStreamed{INT64_C(1) << 32};

/// Seconds of a model as a time, rounded up to a picosecond; beyond the end of simulated time a SimulationError.
inline Time time_of(double seconds) {
  constexpr double kPicoseconds = 1e12;
  if (!(seconds * kPicoseconds < static_cast<double>(INT64_MAX))) { Picoseconds::overflow(); }
  return Time{static_cast<std::int64_t>(std::ceil(seconds * kPicoseconds))};
}

enum class TraceFormat : std::uint8_t {
  chakra,       ///< execution traces of MLCommons Chakra in protobuf: PREFIX.RANK.et
  chakra_json,  ///< execution traces of Chakra as JSON
  kineto,       ///< what PyTorch's profiler writes
  astra,        ///< the text of ASTRA-sim 1
  simai,        ///< the text of SimAI
  goal,         ///< the language of LogGOPSim and ATLAHS
  goal_binary,  ///< what txt2bin makes of it
  athanor,      ///< this project's own JSON
};

/// "chakra", "chakra-json", ...: the name in scenarios and on the command line.
std::string_view name(TraceFormat format);

/// How a trace is read. Durations of computations are multiplied by `compute_scale`, but for those of CPUs.
struct TraceOptions {
  enum class Cpu : std::uint8_t {
    serial,  ///< one after the other beside the GPU, as long as the trace says
    free,    ///< they take no time; what waits for what remains
  };
  enum class Communication : std::uint8_t { simulated, measured };

  /// How long computations take whose trace gives operations and bytes, but no time: the longer of both at these rates.
  struct Roofline {
    double flops = 0;  ///< per second
    Bandwidth bandwidth;
  };

  std::optional<TraceFormat> format;  ///< absent: by name and content
  Ratio compute_scale{1, 1};          ///< from 0 to 1000
  Communication communication = Communication::simulated;
  Cpu cpu = Cpu::serial;
  std::optional<Time> unit;            ///< of times in the texts of ASTRA-sim and SimAI
  std::optional<std::uint32_t> ranks;  ///< of the texts of ASTRA-sim, and of a profile of one rank: how many there are
  std::uint32_t model_ranks = 0;       ///< of the texts of ASTRA-sim: ranks of a model-parallel group
  std::string groups;                  ///< path of the comm_group.json of Chakra traces; "": none
  std::optional<Roofline> roofline;
  std::string step;            ///< of profiles: the ProfilerStep to be taken; "": all that was recorded
  std::optional<Bytes> eager;  ///< of GOAL: messages up to this size leave before their receiver is there
  std::optional<Bytes> limit;  ///< of what comes out of one file; absent: kMostHeld or kMostStreamed
  bool drop_absent = false;    ///< dependencies on operations that are not in the file are left out
};

/// A trace as read.
struct ImportedTrace {
  Workload workload;
  TraceFormat format = TraceFormat::athanor;
  std::uint32_t ranks = 0;         ///< endpoints that take part
  std::vector<std::string> notes;  ///< what was assumed or dropped, how often, and why
};

}  // namespace athanor
