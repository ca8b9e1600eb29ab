#pragma once

#include <nlohmann/json_fwd.hpp>

#include "algorithms/proof/rounds.hpp"
#include "sim/config/json_value.hpp"
#include "tools/plot/schedule_options.hpp"

namespace athanor {

/// The messages of a schedule for drawing and for other tools: {"collective", "algorithm", "ranks", "agents", ...,
/// "messages": [{"round", "from", "to", "part", "elements", "adds", "carries": [...]}]}; see
/// docs/guide/first_result.md. Throws UsageError where there are too many to be followed one by one.
JsonValue schedule_json(const ScheduleRequest& request);

/// `athanor plot schedule`: draws it, or writes its JSON, as the options say.
ExitCode plot_schedule(const Invocation& invocation, const Streams& streams);

}  // namespace athanor
