#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/experiments/run.hpp"
#include "models/training/compute_pool.hpp"
#include "models/training/search/plan_search.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// What a search of plans was asked and has found.
struct PlanReport {
  std::string scenario;   ///< the file, as it was named
  std::string case_name;  ///< "" in a scenario without cases
  TrainingSetup setup;
  double room = 0;                          ///< bytes of a GPU that plans may use; 0: no limit is known
  double reserve = 0;                       ///< that they leave free
  std::optional<StepError> expected_error;  ///< of every step; none: nothing is known of such predictions
  bool interrupted = false;
  std::string own_fault;  ///< why the scenario's own plan could not be run; "": it was
  PlanSearchResult result;
  std::vector<std::string> advice;  ///< where no plan fits: what would help the smallest one
};

/// "tensor 8, pipeline 16 (interleaved, 8 chunks), data 128; micro-batch 1; sharding optimizer; recompute none".
std::string describe(const ParallelPlan& plan);

/// "computing 71.2 %, bubble 12.1 %, exposed TP 8.0 %": where a step went.
std::string shares_text(const StepParts& parts);
/// "+4.1 %: bubble +6.0, exposed TP -1.9": what a step takes longer than another one, in percent of that one. Parts
/// below a tenth of a percent are left out.
std::string difference_text(const StepParts& parts, const StepParts& best);

/// That the first plan is faster than the one at a place behind it, from 0.5 to 1. Requires an expected error.
double certainty_of_first(const PlanReport& report, std::size_t place);

/// What stands above the plans, the plans, and below them what was searched, the plan of the scenario and the nearest
/// miss, as lines of text.
std::string plan_lines(const PlanReport& report, const Heading& heading);

/// The plans, the best first; keys are stable.
std::vector<JsonValue> plans_json(const PlanReport& report);
/// What was searched: counts, the scenario's own plan and the nearest miss.
JsonValue search_json(const PlanReport& report);

}  // namespace athanor
