#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/experiments/record.hpp"
#include "models/training/step/simulate_step.hpp"
#include "models/workload/run_workload.hpp"

namespace athanor {

struct WorkloadRun;

// What results of training and of traces have in common.

inline constexpr Column kStepTime{.key = "step_time_s",
                                  .head = "step",
                                  .unit = "(ms)",
                                  .width = 12,
                                  .format = Format::milliseconds,
                                  .role = ColumnRole::time,
                                  .shown = {.in_sweeps = true,
                                            .in_database = true,
                                            .in_reports = Shown::Report::figure,
                                            .axis = "Time of a step"}};  ///< of a step, or of the whole trace
inline constexpr Column kStepLow{
    .key = "step_time_low_s",
    .head = "low",
    .unit = "(ms)",
    .width = 12,
    .format = Format::milliseconds,
    .role = ColumnRole::low_end,
    .of = &kStepTime,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .report_head = "one in ten below (ms)"}};  ///< one measured step in ten is expected to take less
inline constexpr Column kStepHigh{
    .key = "step_time_high_s",
    .head = "high",
    .unit = "(ms)",
    .width = 12,
    .format = Format::milliseconds,
    .role = ColumnRole::high_end,
    .of = &kStepTime,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .report_head = "one in ten above (ms)"}};  ///< one in ten is expected to take more
inline constexpr Column kExposedTime{
    .key = "exposed_comm_s",
    .head = "exposed",
    .unit = "(ms)",
    .width = 10,
    .format = Format::milliseconds,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Exposed communication"}};  ///< time in which computing waits for communication
inline constexpr Column kBreakdown{"breakdown"};  ///< shares of the step, as below
inline constexpr Column kComputingShare{"", "computing", "(%)", 10, Format::percent};
inline constexpr Column kExposedShare{"", "exposed", "(%)", 10, Format::percent};
inline constexpr Column kWaitingShare{"", "waiting", "(%)", 10, Format::percent};

/// Calls of one use, kind, size and path, of all groups.
struct CallsOfAKind {
  const CallEstimate* estimate = nullptr;
  Parallelism use = Parallelism::other;
  std::uint64_t count = 0;
  Time time;
  Time alone;
};

/// What took longest first; borrows the result. What stays on one rank is left out.
std::vector<CallsOfAKind> calls_by_kind(const WorkloadResult& result);

/// What is called and how: "all-reduce of 64 MiB, ring Simple".
std::string describe(const CallEstimate& estimate);

/// A remark for each of the kinds of calls that took longest, and one that counts the others.
void remark_calls(const WorkloadResult& result, Record& record);

/// Where eight of ten measured times of a trace are expected, as far as anybody knows: what it computes takes what was
/// recorded, and what it waits for collectives is off as these are, each by what it takes alone. `ranks`: of the trace.
void put_interval_of_calls(const WorkloadRun& run, const Platform& platform, std::uint32_t ranks, Record& record);

/// "TP 1.20 %, DP 0.31 %" of the shares that show; "": of none.
std::string exposed_text(const WorkloadShares& shares);

/// What the devices computed, with the longest labels' shares of `whole`, averaged over workers: "attention 12.3 %".
std::string computing_text(const WorkloadResult& result, Time whole);

/// {"computing", `waiting`: what waiting is called there, "exposed_TP", ...}: shares of the time.
JsonValue breakdown_json(const WorkloadShares& shares, const char* waiting);

/// What a user may not have meant: collectives outside of what the platform's profile was fitted in, engines that
/// nobody took, software that costs nothing; and what was multiplied that had only settled.
void add_workload_notes(const WorkloadResult& result, const CollectiveTimer& timer, const Platform& platform,
                        std::vector<std::string>& notes);

/// What was skipped of the packets of all calls, where anything might be.
void put_skipped_packets(const CollectiveTimer& timer, Record& record);

/// Simulations of a step: nothing of them is known by size.
inline constexpr Bytes kOneRun{0};

/// Nodes that ranks are on, and all switches that are in none.
MachineCount machine_of(const Cluster& cluster, std::uint32_t ranks);

/// Puts energy and costs of a step, and of a whole training where its tokens are said: those that are known.
void put_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures, Record& record);

/// Of these those that Column's role or `shown` says something of.
std::vector<const Column*> figures_of_step_costs();

/// The same as remarks; none where nothing is known. `step`: what was simulated.
void remark_step_costs(const StepResult& step, const StepCosts& costs, const CostFigures& figures, Record& record);

}  // namespace athanor
