#include "models/jobs/logs/dated_rows.hpp"

#include <optional>
#include <vector>

#include "sim/words.hpp"

namespace athanor {

void read_dated_rows(LogTable& table, const DatedColumns& names, TasksOf tasks, JobLog& log) {
  const std::size_t id = table.column("job_id");
  const std::size_t user = table.column("user");
  const std::size_t queue = table.column(names.queue);
  const std::size_t gpus = table.column("gpu_num");
  const std::size_t nodes = table.column("node_num");
  const std::size_t submitted = table.column("submit_time");
  const std::size_t started = table.column("start_time");
  const std::size_t duration = table.column("duration");
  std::vector<std::size_t> ends = {table.column(*names.ends.begin())};
  for (const std::string_view name : names.ends) {
    if (const auto at = table.find(name)) { ends.push_back(*at); }
  }
  while (table.next()) {
    LoggedJob job;
    job.name = table.field(id);
    job.user = table.field(user);
    job.queue = table.field(queue);
    std::string_view reason =
        set_shape(job, whole_number_of(table.field(gpus)), whole_number_of(table.field(nodes)), tasks);
    LoggedTimes times{date_of(table.field(submitted)), date_of(table.field(started)), {}, {}};
    for (const std::size_t end : ends) {
      if (!times.ended) { times.ended = date_of(table.field(end)); }
    }
    times.ran = seconds_of_text(table.field(duration));
    if (reason.empty() && !table.field(duration).empty() && !times.ran) {
      reason = "duration is no number of seconds from 0 on";
    }
    if (reason.empty() && !times.started) { reason = "it never started"; }
    if (reason.empty()) { reason = set_times(job, times); }
    add_or_leave_out(job, reason, table, log);
  }
}

}  // namespace athanor
