#include "models/jobs/logs/row.hpp"

#include "models/jobs/gpu_set.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {
constexpr std::int64_t kMostGpus = 1'000'000;
}

std::string_view set_times(LoggedJob& job, const LoggedTimes& times) {
  if (!times.submitted) { return "it has no time of submission"; }
  if (times.started && *times.started < *times.submitted) { return "it starts before it is submitted"; }
  if (times.started && times.ended && *times.ended < *times.started) { return "it ends before it starts"; }
  if (times.ended && *times.ended < *times.submitted) { return "it ends before it is submitted"; }
  job.submitted = *times.submitted;
  job.started = times.started;
  if (times.ran) {
    job.duration = *times.ran;
    return "";
  }
  if (!times.started) { return "it never started"; }
  if (!times.ended) { return "it has not ended"; }
  job.duration = *times.ended - *times.started;
  return "";
}

std::string_view set_shape(LoggedJob& job, std::optional<std::int64_t> gpus, std::optional<std::int64_t> nodes,
                           TasksOf tasks, GpuTypesId types) {
  if (!gpus || *gpus < 0) { return "its GPUs are no number from 0 on"; }
  if (nodes && *nodes < 0) { return "its nodes are no number from 0 on"; }
  if (*gpus == 0) { return "it asks for no GPU"; }
  if (*gpus > kMostGpus) { return "it asks for more than 1000000 GPUs"; }
  const bool even = tasks == TasksOf::nodes && nodes && *nodes > 0 && *gpus % *nodes == 0;
  const std::int64_t each = even ? *gpus / *nodes : 1;
  if (each > GpuSet::kMost) { return "it asks for more than 128 GPUs on a node"; }
  const Demand demand{.gpus = static_cast<std::uint16_t>(each), .gpu_types = types};
  job.shape = {{static_cast<std::uint32_t>(*gpus / each), demand}};
  return "";
}

void visit_tasks(Fields& fields, TasksOf& tasks) {
  fields.optional("tasks", tasks, "A task for each node, with its part of the GPUs, or one for each GPU",
                  {{"nodes", TasksOf::nodes}, {"gpus", TasksOf::gpus}});
}

void add_or_leave_out(const LoggedJob& job, std::string_view reason, const LogTable& table, JobLog& log) {
  if (reason.empty()) {
    log.add(job);
  } else {
    log.leave_out(reason, table.place());
  }
}

std::size_t any_column(const LogTable& table, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto at = table.find(name)) { return *at; }
  }
  return table.column(*names.begin());
}

}  // namespace athanor
