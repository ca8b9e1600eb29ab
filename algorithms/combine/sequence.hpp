#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/schedule.hpp"

namespace athanor {

/// How the second of two schedules follows the first at each agent.
enum class Join : std::uint8_t {
  /// It has lanes of its own, which wait until the agent has ended all of the first. Always right; no loops remain.
  after_all,
  /// Each lane does its loop of the first, then the same loop of the second, and so on: chunks flow through both. Right
  /// where lane and loop of both touch the same cells, which the proof shows. Requires equal loops of lanes with one
  /// number, and with more than two loops equal shifts of what comes to lie in one buffer.
  loop_by_loop,
};

/// One schedule after the other over the same ranks: what the first leaves in its output is the input of the second.
/// That stands in the output where the second works in place, and else in the scratch buffer. Where the first works in
/// place, the second must too. Engine e of both is one agent. A reduction that another follows goes in unfinished().
std::unique_ptr<const Schedule> sequence(std::unique_ptr<const Schedule> first, std::unique_ptr<const Schedule> second,
                                         Join join);

}  // namespace athanor
