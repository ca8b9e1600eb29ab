#include "models/jobs/logs/dated_rows.hpp"
#include "models/jobs/logs/entry.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

/// trace_seren.csv and trace_kalos.csv of Acme (NSDI 2024). Of jobs that failed or were stopped, Kalos tells the end in
/// columns of their own.
struct AcmeTrace final : LogFormat {
  static constexpr std::string_view kName = "acme";
  static constexpr std::string_view kMeaning =
      "trace_seren.csv, trace_kalos.csv of Acme; the type of the job is the queue";

  void visit(Fields& fields) override { visit_tasks(fields, tasks_); }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    LogTable table(path, {});
    read_dated_rows(table, {"type", {"end_time", "fail_time", "stop_time"}}, tasks_, log);
  }

 private:
  TasksOf tasks_ = TasksOf::nodes;
};

template LogFormatEntry log_format_entry_of<AcmeTrace>();

}  // namespace athanor
