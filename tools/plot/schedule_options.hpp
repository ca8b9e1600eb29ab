#pragma once

#include "algorithms/catalog.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

/// --collective, --algorithm, --ranks and how the payload is cut: a schedule that is drawn or listed.
boost::program_options::options_description schedule_options();

/// What they ask for.
struct ScheduleRequest {
  const Algorithm* algorithm = nullptr;
  Collective collective;
  Layout layout;
};

/// Where nothing else is said the payload is the least that is cut into equal pieces, an all-to-all-v's blocks are of
/// equal size, and all ranks are one group. Throws UsageError, and ScenarioError with those that fit where the
/// algorithm does not.
ScheduleRequest schedule_request(const Invocation& invocation);

}  // namespace athanor
