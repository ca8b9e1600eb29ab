#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/traces/trace_options.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

/// A program in GOAL, the language of LogGOPSim and ATLAHS, rank by rank.
struct GoalProgram {
  static constexpr std::uint32_t kAny = UINT32_MAX;  ///< of peers and tags

  enum class Type : std::uint8_t { send = 1, receive = 2, compute = 3 };
  struct Operation {
    Type type = Type::compute;
    std::uint8_t cpu = 0;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t amount = 0;  ///< bytes, or nanoseconds
  };
  /// `later` begins after `earlier` has ended; or, where it waits for the beginning, after that has begun.
  struct Wait {
    std::uint32_t later = 0;
    std::uint32_t earlier = 0;
    bool begin = false;
  };
  struct Rank {
    bool there = false;
    std::vector<Operation> operations;
    std::vector<Wait> waits;
  };

  std::string file;
  std::vector<Rank> ranks;
};

/// At most `limit` of a file. Throw ScenarioError with the line, or the rank and byte, of what is wrong; FileError.
GoalProgram read_goal_text(const std::string& file, Bytes limit);
GoalProgram read_goal_binary(const std::string& file, Bytes limit);

/// Makes a worker of each rank. A calc holds its CPU, which does whatever is ready first; messages run side by side.
/// A receive from anyone, or of any tag, is taken where one sender and tag alone is possible, else complained of.
void add_goal(const GoalProgram& program, const TraceOptions& options, WorkloadDraft& draft);

}  // namespace athanor
