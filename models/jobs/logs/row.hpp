#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "models/jobs/logs/job_log.hpp"
#include "models/jobs/logs/table.hpp"

namespace athanor {

class Fields;

/// What a row says of when.
struct LoggedTimes {
  std::optional<LogTime> submitted;
  std::optional<LogTime> started;
  std::optional<LogTime> ended;
  std::optional<WallTime> ran;  ///< none: from start to end
};

/// Writes them into the job. Returns why they cannot be those of a job that ran; "": they can.
std::string_view set_times(LoggedJob& job, const LoggedTimes& times);

/// How the GPUs of a job are divided where a log says no more than how many there are on how many nodes.
enum class TasksOf : std::uint8_t {
  nodes,  ///< a task for each node, with its part of the GPUs, where they can be divided so
  gpus,   ///< a task for each GPU, wherever it is
};

/// Writes the shape into the job. `nodes`: none, or 0: unknown. Returns why there is none; "": there is.
std::string_view set_shape(LoggedJob& job, std::optional<std::int64_t> gpus, std::optional<std::int64_t> nodes,
                           TasksOf tasks, GpuTypesId types = {});

/// Declares the key of a TasksOf.
void visit_tasks(Fields& fields, TasksOf& tasks);

/// Adds the job, or leaves the row out for the reason.
void add_or_leave_out(const LoggedJob& job, std::string_view reason, const LogTable& table, JobLog& log);

/// The first column of these that there is. Throws ScenarioError("missing-column") with the first name.
std::size_t any_column(const LogTable& table, std::initializer_list<std::string_view> names);

}  // namespace athanor
