#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/experiments/scenario/trace_section.hpp"
#include "models/experiments/scenario/traffic_section.hpp"
#include "models/experiments/scenario/training_section.hpp"
#include "models/experiments/simulate_side_by_side.hpp"

namespace athanor {

/// A step that is described by what it takes: computing, then a call of all ranks beside more computing.
struct IterationConfig {
  Time compute;
  Time beside;
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size;
};

/// One of the "jobs" of "side_by_side".
struct SideJobConfig {
  std::string name;
  std::optional<TrainingConfig> training;
  std::optional<TraceConfig> trace;
  std::optional<IterationConfig> iteration;
  std::optional<std::uint32_t> gpus;
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> endpoints;
  Time start;
  std::uint32_t priority = 0;
  std::optional<std::uint32_t> steps;
  SourceLocation place;
  std::string pointer;  ///< in the case
};

struct SideTrafficConfig {
  std::string name;
  TrafficConfig traffic;
  std::optional<Bandwidth> rate;
  std::optional<Time> every;
  std::optional<Time> gap;
};

/// The "side_by_side" of a scenario.
struct SideBySideConfig {
  std::vector<SideJobConfig> jobs;
  std::vector<SideTrafficConfig> traffic;
  SideBySideSetup setup;  ///< but for jobs and traffic
};

struct ReadingContext;
void visit(Fields& fields, ReadingContext& context, SideBySideConfig& config);

struct Cluster;
struct ClusterConfig;
/// Finds endpoints for jobs, in their order, and makes of them what can be simulated; so of traffic. What is in the way
/// is added to the problems.
void place_jobs(ReadingContext& context, const ClusterConfig& described, const Cluster& cluster, std::uint64_t seed,
                SideBySideConfig& config);

}  // namespace athanor
