#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/row.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// What the tables of tasks and instances say of a job.
struct PaiJob {
  Shape shape;
  std::optional<LogTime> first;  ///< start of a task, or of an instance where there is a table of them
  std::optional<LogTime> last;   ///< end
  std::string_view problem;      ///< why it cannot be run
};

using PaiJobs = std::unordered_map<std::string, PaiJob>;

void widen(PaiJob& job, std::optional<LogTime> start, std::optional<LogTime> end) {
  if (start) { job.first = job.first ? std::min(*job.first, *start) : *start; }
  if (end) { job.last = job.last ? std::max(*job.last, *end) : *end; }
  if (start && !end) { job.problem = "a task or an instance has not ended"; }
}

/// A number from 0 on; an empty field is 0.
std::optional<double> amount_of(std::string_view text) {
  if (text.empty()) { return 0.0; }
  const auto number = number_of(text);
  return number && *number >= 0 && *number <= 1e9 ? number : std::nullopt;
}

/// plan_cpu and plan_gpu are hundredths, plan_mem is GB. None: it is no demand that a node can meet.
std::optional<Demand> demand_of(std::string_view cpu, std::string_view memory, std::string_view gpu) {
  const auto cores = amount_of(cpu);
  const auto gigabytes = amount_of(memory);
  const auto gpus = amount_of(gpu);
  if (!cores || *cores > 4e8 || !gigabytes || *gigabytes > 4e6 || !gpus || *gpus > 12'800) { return {}; }
  Demand each{.cpu_milli = static_cast<std::uint32_t>(std::llround(*cores * 10)),
              .memory_mib = static_cast<std::uint32_t>(std::llround(*gigabytes * 1024))};
  const auto milli = std::llround(*gpus * 10);
  if (milli > 1000 && milli % 1000 != 0) { return {}; }
  if (milli < 1000) {
    each.gpu_milli = static_cast<std::uint16_t>(milli);
  } else {
    each.gpus = static_cast<std::uint16_t>(milli / 1000);
  }
  return each;
}

void read_tasks(LogTable& table, JobList& list, bool typed, PaiJobs& jobs) {
  while (table.next()) {
    PaiJob& job = jobs[std::string(table.field(0))];
    const auto count = number_of(table.field(2));
    const auto each = demand_of(table.field(6), table.field(7), table.field(8));
    if (!count || !(*count >= 1) || *count > 1e6) {
      job.problem = "a task's inst_num is no number from 1 on";
    } else if (!each) {
      job.problem = "a task asks for no number of cores, of GB, or of whole GPUs or a part of one";
    } else {
      TaskGroup group{static_cast<std::uint32_t>(*count), *each};
      const std::string_view type = table.field(9);
      const bool named = !type.empty() && type != "MISC" && type != "CPU";
      if (typed && named && gpu_milli_of({group}) > 0) { group.each.gpu_types = list.gpu_types({std::string(type)}); }
      job.shape.push_back(group);
    }
    widen(job, seconds_of_text(table.field(4)), seconds_of_text(table.field(5)));
  }
}

void read_instances(LogTable& table, PaiJobs& jobs) {
  for (auto& [name, job] : jobs) { job.first = job.last = std::nullopt; }
  while (table.next()) {
    const auto at = jobs.find(std::string(table.field(0)));
    if (at == jobs.end()) { continue; }
    widen(at->second, seconds_of_text(table.field(6)), seconds_of_text(table.field(7)));
  }
}

}  // namespace

/// Alibaba's cluster-trace-gpu-v2020 (PAI): tables without header lines. The file is pai_job_table, whose start_time is
/// when a job is submitted.
struct PaiTables final : LogFormat {
  static constexpr std::string_view kName = "pai";
  static constexpr std::string_view kMeaning = "The tables of jobs, tasks and instances of cluster-trace-gpu-v2020";

  void visit(Fields& fields) override {
    fields.required("task_table", task_table_, "pai_task_table, its path relative to the scenario");
    fields.optional("instance_table", instance_table_,
                    "pai_instance_table: when instances began; absent: when tasks did");
    fields.optional("typed_gpus", typed_gpus_, "Jobs run on the type of GPU alone that gpu_type names");
  }

  void read(const std::string& path, const FileReader& files, JobLog& log) const override {
    PaiJobs jobs;
    LogTable tasks(path_of(task_table_, files),
                   {.columns = {"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu",
                                "plan_mem", "plan_gpu", "gpu_type"}});
    read_tasks(tasks, log.list(), typed_gpus_, jobs);
    if (!instance_table_.empty()) {
      LogTable instances(path_of(instance_table_, files),
                         {.columns = {"job_name", "task_name", "inst_name", "worker_name", "inst_id", "status",
                                      "start_time", "end_time", "machine"}});
      read_instances(instances, jobs);
    }
    LogTable table(path, {.columns = {"job_name", "inst_id", "user", "status", "start_time", "end_time"}});
    while (table.next()) {
      LoggedJob job;
      add_or_leave_out(job, read_job(table, jobs, job), table, log);
    }
  }

 private:
  static std::string path_of(const std::string& name, const FileReader& files) {
    files.note(name);
    return files.path(name);
  }

  static std::string_view read_job(const LogTable& table, const PaiJobs& jobs, LoggedJob& job) {
    if (table.fields() != table.columns().size()) { return "it has not 6 fields"; }
    const auto at = jobs.find(std::string(table.field(0)));
    if (at == jobs.end()) { return "no task is of it"; }
    const PaiJob& found = at->second;
    if (!found.problem.empty()) { return found.problem; }
    if (gpu_milli_of(found.shape) == 0) { return "it asks for no GPU"; }
    job.name = table.field(0);
    job.user = table.field(2);
    job.shape = found.shape;
    LoggedTimes times;
    times.submitted = seconds_of_text(table.field(4));
    times.started = found.first;
    times.ended = found.last;
    return set_times(job, times);
  }

  std::string task_table_;
  std::string instance_table_;
  bool typed_gpus_ = false;
};

template LogFormatEntry log_format_entry_of<PaiTables>();

}  // namespace athanor
