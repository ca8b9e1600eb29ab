#pragma once

#include "models/experiments/record.hpp"

namespace athanor {

// Columns of SharedClusterExperiment.

inline constexpr Column kWorkload{.key = "workload", .role = ColumnRole::subject};  ///< how many jobs of which file
inline constexpr Column kScheduler{.key = "scheduler",
                                   .role = ColumnRole::choice,
                                   .shown = {.in_reports = Shown::Report::word}};  ///< who decides when jobs run
inline constexpr Column kPlacement{.key = "placement",
                                   .role = ColumnRole::choice,
                                   .shown = {.in_reports = Shown::Report::word}};  ///< the policy of placement
inline constexpr Column kSubmitted{"submitted", "jobs", "", 8,
                                   Format::count};  ///< jobs, within the time that was simulated
inline constexpr Column kCompleted{"completed", "done", "", 8, Format::count};  ///< ended by themselves
inline constexpr Column kTimedOut{"timed_out"};                                 ///< ended by their limits
inline constexpr Column kGivenUp{"failed"};                                 ///< more often than they are tried again
inline constexpr Column kNeverStarted{"never_started"};                     ///< submitted, and waiting to the end
inline constexpr Column kQueued{"queued", "queued", "", 8, Format::count};  ///< did not start at once
inline constexpr Column kRestarts{"restarts"};                              ///< starts of jobs beyond their first
inline constexpr Column kCompletionMean{
    .key = "completion_s_mean",
    .head = "completion",
    .unit = "(s)",
    .width = 11,
    .format = Format::one_decimal,
    .role = ColumnRole::time,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Completion (s)"}};  ///< from submission
                                                                                                   ///< to end, of jobs
                                                                                                   ///< that ended
inline constexpr Column kCompletionMedian{"completion_s_median"};                                  ///< median
inline constexpr Column kCompletionP99{"completion_s_p99"};                                        ///< 99th percentile
inline constexpr Column kWaitMean{
    .key = "wait_s_mean",
    .head = "wait",
    .unit = "(s)",
    .width = 11,
    .format = Format::one_decimal,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Wait (s)"}};  ///< from submission to
                                                                                             ///< the first start
inline constexpr Column kLoggedWaitMean{"logged_wait_s_mean"};      ///< as the log has it, of the same jobs
inline constexpr Column kLoggedWaitMedian{"logged_wait_s_median"};  ///< median
inline constexpr Column kLoggedWaits{"logged_waits"};  ///< waits by the log and as simulated: of all and by queue, how
                                                       ///< far those of each job are apart, and in which order they are
inline constexpr Column kWaitMedian{"wait_s_median", "median", "(s)", 9, Format::one_decimal};  ///< median
inline constexpr Column kWaitP90{"wait_s_p90"};                                                 ///< 90th percentile
inline constexpr Column kWaitP99{
    .key = "wait_s_p99",
    .head = "p99",
    .unit = "(s)",
    .width = 10,
    .format = Format::one_decimal,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure}};                  ///< 99th percentile
inline constexpr Column kWaitMost{"wait_s_max", "max", "(s)", 10, Format::one_decimal};  ///< the longest
inline constexpr Column kSlowdownMean{"slowdown_mean", "slowdown", "(mean)",
                                      8};              ///< completion over duration, at least 10 s and at least 1
inline constexpr Column kSlowdownP99{"slowdown_p99"};  ///< 99th percentile
inline constexpr Column kUtilisation{.key = "utilisation",
                                     .head = "used",
                                     .unit = "(%)",
                                     .width = 7,
                                     .format = Format::percent,
                                     .role = ColumnRole::rate,
                                     .shown = {.in_sweeps = true,
                                               .in_reports = Shown::Report::figure,
                                               .axis = "GPUs used (%)"}};  ///< share of all GPUs' time that jobs had
inline constexpr Column kQueueLength{"queue_length"};                      ///< jobs waiting, on average
inline constexpr Column kMakespan{"makespan_s"};                           ///< to the end of the last job
inline constexpr Column kGpuHours{"gpu_hours"};                            ///< that jobs had
inline constexpr Column kAllocatedAt80{"allocated_at_80"};                 ///< of "fill": share of GPUs when 80 % came
inline constexpr Column kAllocatedAt100{"allocated_at_100"};               ///< when 100 % of them had been asked for
inline constexpr Column kAllocatedAt120{"allocated_at_120"};               ///< 120 %
inline constexpr Column kAllocatedAt130{"allocated_at_130"};               ///< 130 %
inline constexpr Column kFairness{.key = "fairness",
                                  .role = ColumnRole::rate};  ///< Jain's index of users' mean slowdowns
inline constexpr Column kTrainingPlacement{
    .key = "training_placement_slowdown",
    .head = "placement",
    .unit = "(times)",
    .width = 9,
    .format = Format::two_decimals,
    .shown = {.in_sweeps = true}};  ///< how many times as long the steps of trainings take where they are as they
                                    ///< would on the first nodes of an empty cluster
inline constexpr Column kTrainingInterference{
    .key = "training_interference_slowdown",
    .head = "others",
    .unit = "(times)",
    .width = 8,
    .format = Format::two_decimals,
    .shown = {.in_sweeps = true}};  ///< how many times as long they take beside others, and beside a storage's data on
                                    ///< their links, as there alone
inline constexpr Column kStuck{"stuck"};  ///< why jobs wait, or stand still, that nothing can help any more, or begin
                                          ///< again without end
inline constexpr Column kGoodput{
    .key = "goodput",
    .head = "goodput",
    .unit = "(%)",
    .width = 8,
    .format = Format::percent,
    .role = ColumnRole::rate,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Goodput (%)"}};  ///< share of the time of GPUs that jobs had which was work that lasted
inline constexpr Column kEffectiveTime{.key = "effective_time",
                                       .head = "effective",
                                       .unit = "(%)",
                                       .width = 9,
                                       .format = Format::percent,
                                       .role = ColumnRole::rate,
                                       .shown = {.in_sweeps = true}};  ///< the same share of the time from first start
                                                                       ///< to end, of all jobs by their GPUs (ETTR)
inline constexpr Column kInterruptions{"interruptions", "failed", "", 7, Format::count};  ///< of jobs, by failures
inline constexpr Column kLostGpuHours{"lost_gpu_hours"};  ///< by sources of failures, and checkpoints: work lost,
                                                          ///< detection, lost tasks that wait, beginning again, longer
                                                          ///< work on slow nodes
inline constexpr Column kFailures{"failures"};            ///< of parts, by source
inline constexpr Column kCordoned{"cordoned"};            ///< nodes taken out since they failed too often
inline constexpr Column kFromMemory{
    "from_memory"};  ///< interruptions, by source, after which jobs went on from checkpoints in memory
inline constexpr Column kMttf{"mttf_h"};  ///< hours that jobs run until a failure hits them, on average, by their GPUs
inline constexpr Column kBestInterval{"best_interval_s"};  ///< between checkpoints, that costs least at that rate of
                                                           ///< failures, but those that memory has made up for, by
                                                           ///< GPUs of jobs
inline constexpr Column kStall{
    .key = "stall",
    .head = "stall",
    .unit = "(%)",
    .width = 7,
    .format = Format::percent,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Waiting for data (%)"}};  ///< share of the time that jobs with data work in which they wait for
                                                 ///< it, by their GPUs
inline constexpr Column kStallCpu{"stall_cpu"};  ///< the same of data that is there and has to be prepared
inline constexpr Column kHits{.key = "hits",
                              .head = "hits",
                              .unit = "(%)",
                              .width = 7,
                              .format = Format::percent,
                              .role = ColumnRole::rate,
                              .shown = {.in_sweeps = true}};    ///< share of the bytes read that came from caches
inline constexpr Column kStorageRead{"storage_read_gb"};        ///< of each storage, by jobs
inline constexpr Column kStorageWritten{"storage_written_gb"};  ///< of each storage, checkpoints
inline constexpr Column kStorageBusiestRead{"storage_busiest_read_gbs"};    ///< GB/s, the most at any time
inline constexpr Column kStorageBusiestWrite{"storage_busiest_write_gbs"};  ///< likewise
inline constexpr Column kEffectiveTimeP5{"effective_time_p5", "p5", "(%)", 6,
                                         Format::percent};  ///< of several seeds: 5th percentile
inline constexpr Column kEffectiveTimeP95{"effective_time_p95", "p95", "(%)", 6,
                                          Format::percent};  ///< of several seeds: 95th percentile
inline constexpr Column kCompletionP5{"completion_s_p5", "p5", "(s)", 11,
                                      Format::one_decimal};  ///< of several seeds: 5th percentile
inline constexpr Column kCompletionP95{"completion_s_p95", "p95", "(s)", 11,
                                       Format::one_decimal};  ///< of several seeds: 95th percentile

}  // namespace athanor
