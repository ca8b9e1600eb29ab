#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/run.hpp"
#include "models/workload/workload_result.hpp"
#include "sim/config/json_value.hpp"
#include "tools/explain/explanation_parts.hpp"

namespace athanor {

/// Why a step of training or a replayed trace takes the time that it takes.
struct WorkloadExplanation {
  Heading heading;
  Time time;                                  ///< of the step: what the path takes, and stragglers
  std::optional<ExplainedInterval> interval;  ///< of that time, in s; none: nobody knows
  Time stragglers;                            ///< behind the path, by the compute profile
  WorkloadResult result;
  PathSummary path;
  std::vector<std::string> links;  ///< by estimate: the kind of link that it keeps busy longest; "": it uses none
  std::vector<ExplainedChange> changes;
  std::vector<std::string> notes;
};

/// For people. Ends with a line feed.
std::string to_text(const WorkloadExplanation& explanation);
/// {"case", "cluster", "profile", "subject", "step_time_s", "step_time_low_s", "step_time_high_s", "known", "path":
/// {"computing_s": {label: s}, "slowed_s", "communication_s": {use: {"bandwidth", "latency", "sharing"}}, "idle_s",
/// "stragglers_s"}, "workers_s": {name: s}, "stretches": [{"worker", "begin_s", "end_s", "computing_s",
/// "communicating_s"}], "calls": [{"use", "label", "kind", "size", "algorithm", "protocol", "count", "bandwidth_s",
/// "latency_s", "sharing_s", "busiest_link", "busiest_share"}], "breakdown", "changes", "notes"}.
JsonValue to_json(const WorkloadExplanation& explanation);

}  // namespace athanor
