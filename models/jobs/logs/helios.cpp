#include "models/jobs/logs/dated_rows.hpp"
#include "models/jobs/logs/entry.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// cluster_log.csv of SenseTime's Helios (SC 2021): job_id, user, vc, gpu_num, cpu_num, node_num, state, submit_time,
/// start_time, end_time, duration, queue.
struct HeliosLog final : LogFormat {
  static constexpr std::string_view kName = "helios";
  static constexpr std::string_view kMeaning = "cluster_log.csv of Helios; the virtual cluster is the queue";

  void visit(Fields& fields) override { visit_tasks(fields, tasks_); }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    LogTable table(path, {});
    read_dated_rows(table, {"vc", {"end_time"}}, tasks_, log);
  }

 private:
  TasksOf tasks_ = TasksOf::nodes;
};

template LogFormatEntry log_format_entry_of<HeliosLog>();

}  // namespace athanor
