#pragma once

#include <initializer_list>
#include <string_view>

#include "models/jobs/logs/row.hpp"

namespace athanor {

/// Names of the columns of a table in which a row is a job with dates and counts of GPUs and nodes.
struct DatedColumns {
  std::string_view queue;
  std::initializer_list<std::string_view> ends;  ///< the first that a row has counts; the file has the first one
};

/// Reads such a table to its end: job_id, user, gpu_num, node_num, submit_time, start_time, duration, and the above.
void read_dated_rows(LogTable& table, const DatedColumns& names, TasksOf tasks, JobLog& log);

}  // namespace athanor
