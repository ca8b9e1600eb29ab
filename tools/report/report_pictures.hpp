#pragma once

#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "sim/config/json_value.hpp"
#include "tools/plot/drawing.hpp"

namespace athanor {

/// What reports draw of the cases of a scenario beside their results. The timelines are in `files`, which live as long.
struct ReportPictures {
  JsonValue by_case = JsonValue::object();
  std::vector<TemporaryFile> files;
};

/// Of the first cases: of a collective at its largest size {"use": topology_use_json(), where the cluster is small
/// enough to be drawn, "schedule": of the fastest algorithm, schedule_json(), where ranks are few}; of a step of
/// training
/// {"timeline": a file, where it is small}. What cannot be simulated alone, or drawn, is left out.
ReportPictures report_pictures(const Scenario& scenario, const RunOptions& options);

}  // namespace athanor
