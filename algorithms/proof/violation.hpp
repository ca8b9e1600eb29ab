#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// What a schedule can be wrong in.
enum class ViolationKind : std::uint8_t {
  memory,         ///< buffers that are not those of the collective
  wiring,         ///< target and source are not inverse, or name what does not exist
  ports,          ///< a primitive uses ports that its lane has not
  cells,          ///< addresses outside a buffer, overlapping within a primitive, or stored into the input
  message_limit,  ///< a message longer than message_limit()
  wait,           ///< a wait for a lane that does not exist or never ends so many primitives
  loops,          ///< a loop is not loop 0 moved by shift()
  program,        ///< two lanes of one program differ in more than addresses and peers
  matching,       ///< the two ends of a connection disagree on the number or the size of messages
  deadlock,       ///< with the stated slots the schedule does not end
  slots,          ///< least_slots() is not the least
  race,           ///< two lanes touch a cell, one writes it, and nothing orders them
  barrier,        ///< a rank can end before another has begun, though the collective is a barrier
  result,         ///< an output element does not hold what the collective promises
};

std::string_view name(ViolationKind kind);
std::string_view name(Buffer buffer);

/// As much of a position in a schedule as a violation has.
struct StepPlace {
  AgentId agent;
  std::optional<LaneId> lane;
  std::optional<std::uint64_t> loop;
  std::optional<std::uint32_t> step;
  bool operator==(const StepPlace&) const = default;
};

struct Violation {
  ViolationKind kind = ViolationKind::result;
  StepPlace place;
  std::string text;  ///< what was found and what was expected, without kind and place
};

/// "rank 3" or "engine 0" (agents beyond the ranks are engines, counted from 0).
std::string describe(const AgentCount& agent_count, AgentId agent);
/// "rank 3, lane 0, loop 1, step 5".
std::string describe(const AgentCount& agent_count, const StepPlace& place);
/// One line: "race at rank 3, lane 0, loop 1, step 5: ...".
std::string explain(const AgentCount& agent_count, const Violation& violation);

}  // namespace athanor
