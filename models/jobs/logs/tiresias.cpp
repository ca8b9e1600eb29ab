#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/row.hpp"
#include "sim/words.hpp"

namespace athanor {

/// The traces of Tiresias's simulator (NSDI 2019): job_id, num_gpu, submit_time and duration in seconds, in some files
/// start_time.
struct TiresiasTrace final : LogFormat {
  static constexpr std::string_view kName = "tiresias";
  static constexpr std::string_view kMeaning = "CSV of Tiresias's simulator: job_id, num_gpu, submit_time, duration";

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    LogTable table(path, {});
    const std::size_t id = table.column("job_id");
    const std::size_t gpus = table.column("num_gpu");
    const std::size_t submitted = table.column("submit_time");
    const std::size_t duration = table.column("duration");
    const auto started = table.find("start_time");
    while (table.next()) {
      LoggedJob job;
      job.name = table.field(id);
      std::string_view reason = set_shape(job, whole_number_of(table.field(gpus)), {}, TasksOf::gpus);
      LoggedTimes times;
      times.submitted = seconds_of_text(table.field(submitted));
      if (started) { times.started = seconds_of_text(table.field(*started)); }
      times.ran = seconds_of_text(table.field(duration));
      if (reason.empty() && !times.ran) { reason = "duration is no number of seconds from 0 on"; }
      if (reason.empty()) { reason = set_times(job, times); }
      add_or_leave_out(job, reason, table, log);
    }
  }
};

template LogFormatEntry log_format_entry_of<TiresiasTrace>();

}  // namespace athanor
