#pragma once

#include "algorithms/catalog.hpp"
#include "algorithms/proof/rounds.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// A schedule that is drawn or listed.
struct ScheduleRequest {
  const Algorithm* algorithm = nullptr;
  Collective collective;
  Layout layout;
};

/// The messages of a schedule for drawing and for other tools: {"collective", "algorithm", "ranks", "agents", ...,
/// "messages": [{"round", "from", "to", "part", "elements", "adds", "carries": [...]}]}; see
/// docs/guide/first_result.md. Throws UsageError where there are too many to be followed one by one.
JsonValue schedule_json(const ScheduleRequest& request);

}  // namespace athanor
