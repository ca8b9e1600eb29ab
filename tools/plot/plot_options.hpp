#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/schedule/collective.hpp"
#include "tools/cli/scenarios.hpp"

namespace athanor {

/// A schedule that is drawn or listed, and how its payload is cut.
struct ScheduleOptions {
  std::optional<std::string> collective, algorithm;
  std::optional<std::uint32_t> ranks, count, chunk;
  std::uint32_t root = 0;
  Layout layout;  ///< but its chunk and its shape
  GridShape grid;
};
void visit(OptionFields& fields, ScheduleOptions& options);

struct PlotOptions {
  CommonOptions common;
  std::string folder = "plots";
  std::optional<std::string> output, figure, title;
  ScenarioOptions scenario;
  std::optional<Bytes> size;
  ScheduleOptions schedule;
};

void visit(OptionFields& fields, PlotOptions& options);

/// `athanor plot schedule`: draws it, or writes its JSON, as the options say.
ExitCode plot_schedule(const PlotOptions& options, const Streams& streams);
/// `athanor plot topology SCENARIO|PRESET`: draws the cluster.
ExitCode plot_topology(const PlotOptions& options, const Streams& streams);
/// `athanor plot jobs SCENARIO|JOBS.csv`: draws a workload.
ExitCode plot_jobs(const PlotOptions& options, const Streams& streams);

}  // namespace athanor
