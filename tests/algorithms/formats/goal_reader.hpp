#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace athanor {

/// What GOAL's grammar knows, as far as exports use it. Labels count per rank.
struct GoalOperation {
  enum class Kind : std::uint8_t { send, receive, calc };
  Kind kind = Kind::calc;
  std::int64_t amount = 0;  ///< bytes or nanoseconds
  std::uint32_t peer = 0;
  std::uint32_t tag = 0;
  std::vector<std::size_t> required;  ///< operations of the same rank that end first
};

/// Reads strictly by the grammar: ranks in order, every label defined once and above its use. Throws std::logic_error.
std::vector<std::vector<GoalOperation>> read_goal(const std::string& text);

/// Sends and receives by (from, to, tag).
using GoalMessages = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<std::int64_t>>;
GoalMessages goal_messages(const std::vector<std::vector<GoalOperation>>& ranks, GoalOperation::Kind kind);

/// How many operations can be carried out, one after another. `rendezvous`: a send ends only after its receive may
/// start; else as soon as it may start itself. A receive ends after its send may start.
std::size_t goal_progress(const std::vector<std::vector<GoalOperation>>& ranks, bool rendezvous);

}  // namespace athanor
