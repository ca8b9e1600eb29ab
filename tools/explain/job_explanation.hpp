#pragma once

#include "models/experiments/run.hpp"
#include "models/experiments/shared_cluster.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// Why a job of a workload waited, and what it did with its time.
struct JobExplanation {
  Heading heading;
  JobHistory history;
};

/// For people. Ends with a line feed.
std::string to_text(const JobExplanation& explanation);
/// {"case", "cluster", "job", "name", "gpus", "state", "submitted_s", "wait_s", "ended_s", "duration_s", "time_s":
/// {"useful", "writing", "lost", "detecting", "incomplete", "starting"}, "placement_slowdown", "interference_slowdown",
/// "events": [{"time_s", "what"}], "left_out"}; null where there is nothing to be said.
JsonValue to_json(const JobExplanation& explanation);

}  // namespace athanor
