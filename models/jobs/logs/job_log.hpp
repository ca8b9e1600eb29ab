#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/job.hpp"
#include "sim/error.hpp"

namespace athanor {

/// A point in time of a log: microseconds since 1970-01-01 00:00:00 UTC, or since the log's own zero.
using LogTime = WallTime;

/// What a row of a log says of a job, before it is one of a list.
struct LoggedJob {
  std::string_view name;
  std::string_view user;
  std::string_view queue;
  Shape shape;
  LogTime submitted;
  std::optional<LogTime> started;     ///< recorded, to be held against what is simulated
  WallTime duration;                  ///< it ran
  std::optional<WallTime> limit;      ///< that its user asked for
  std::optional<WallTime> predicted;  ///< how long its user, or anybody, thought that it runs
  std::int32_t priority = 0;
  bool preemptible = false;            ///< as of Job
  std::uint32_t retries = UINT32_MAX;  ///< after failures; none said: always
  std::string_view application;        ///< whose profile says how long it runs, in place of `duration`; "": none
  std::uint32_t batch = 0;             ///< of an application
  std::uint32_t least_gpus = 0;        ///< as of Job
  std::uint32_t most_gpus = 0;         ///< the same
};

/// Which jobs of a log are taken.
struct LogSelection {
  std::vector<std::string> queues;  ///< empty: of all
  std::optional<LogTime> from;      ///< submitted at that time or later
  std::optional<LogTime> to;        ///< and before this one
  std::uint64_t most = 0;           ///< the first so many; 0: all
};

/// Rows that are none of the jobs, for one reason.
struct LeftOut {
  std::uint64_t rows = 0;
  int first_line = 0;
};

/// Jobs of a log. Takes rows in any order.
class JobLog {
 public:
  /// `gpu_types`: of the nodes that its jobs are to run on.
  explicit JobLog(LogSelection selection, std::vector<std::string> gpu_types = {})
      : selection_(std::move(selection)), gpu_types_(std::move(gpu_types)) {}

  const std::vector<std::string>& gpu_types() const { return gpu_types_; }

  /// To make shapes of.
  JobList& list() { return list_; }
  void add(const LoggedJob& job);
  /// A row that cannot be used: `reason` is short and the same for all such rows, "it ends before it starts".
  void leave_out(std::string_view reason, const SourceLocation& place);
  /// Something of a file that is read and changes nothing: `"nodeSelector" of a pod`.
  void has_no_effect(std::string_view what, const SourceLocation& place);

  /// The log's own zero is time zero, unless `from` of the selection is; else the first submission would be.
  void begins_at(LogTime zero) { beginning_ = zero; }

  /// The jobs in the order of submission, from time zero on.
  void finish();
  /// What finish() made.
  JobList take() { return std::move(list_); }
  /// How long jobs waited by the log, by their ids; empty: no row said it.
  const std::vector<std::optional<WallTime>>& waits() const { return waits_; }
  /// Time zero of the list, in times of the log.
  LogTime zero() const { return zero_; }
  std::uint64_t rows() const { return rows_; }
  /// By reason.
  const std::map<std::string, LeftOut, std::less<>>& left_out() const { return left_out_; }
  /// Some of the queues that jobs are of which the selection passes over, in the order of the rows.
  const std::vector<std::string>& other_queues() const { return other_queues_; }
  /// By what it is; rows: how often it stands there.
  const std::map<std::string, LeftOut, std::less<>>& without_effect() const { return without_effect_; }

 private:
  bool is_selected(const LoggedJob& job);
  void pass_over_queue(std::string_view queue);

  LogSelection selection_;
  std::vector<std::string> gpu_types_;
  JobList list_;
  std::vector<std::optional<WallTime>> waits_;
  std::optional<LogTime> beginning_;
  LogTime zero_;
  std::uint64_t rows_ = 0;
  std::vector<std::string> other_queues_;
  std::map<std::string, LeftOut, std::less<>> left_out_;
  std::map<std::string, LeftOut, std::less<>> without_effect_;
};

/// "2023-03-01 00:18:22+08:00", "2023-03-01T00:18:22", with or without parts of a second and a zone (none: UTC); none
/// where it is no date.
std::optional<LogTime> date_of(std::string_view text);
/// "1800", "12.5": seconds; none where it is no number, or below zero.
std::optional<WallTime> seconds_of_text(std::string_view text);

}  // namespace athanor
