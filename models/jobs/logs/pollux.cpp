#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/row.hpp"
#include "sim/config/fields.hpp"
#include "sim/words.hpp"

namespace athanor {

/// The workloads of the simulators of Pollux (OSDI 2021) and Sia (SOSP 2023): name, time in seconds from the beginning,
/// application, num_replicas (GPUs) and batch_size. How long a job runs follows from the application's profile.
struct PolluxWorkload final : LogFormat {
  static constexpr std::string_view kName = "pollux";
  static constexpr std::string_view kMeaning =
      "CSV of Pollux's simulator: name, time, application, num_replicas, batch_size; with \"profiles\"";

  void visit(Fields& fields) override {
    fields.optional("elastic", elastic_, "Schedulers may give each job from one GPU to as many as its profile allows");
  }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    constexpr std::int64_t kMostBatch = 1'000'000'000;
    constexpr std::uint32_t kMostGpus = 1'000'000;
    LogTable table(path, {});
    const std::size_t name = table.column("name");
    const std::size_t time = table.column("time");
    const std::size_t application = table.column("application");
    const std::size_t replicas = table.column("num_replicas");
    const std::size_t batch_size = table.column("batch_size");
    log.begins_at(LogTime{});
    while (table.next()) {
      LoggedJob job;
      job.name = table.field(name);
      job.application = table.field(application);
      std::string_view reason = set_shape(job, whole_number_of(table.field(replicas)), {}, TasksOf::gpus);
      const auto submitted = seconds_of_text(table.field(time));
      const auto batch = whole_number_of(table.field(batch_size));
      if (reason.empty() && !submitted) { reason = "time is no number of seconds from 0 on"; }
      if (reason.empty() && job.application.empty()) { reason = "it names no application"; }
      if (reason.empty() && (!batch || *batch < 1 || *batch > kMostBatch)) {
        reason = "batch_size is no number from 1 on";
      }
      if (reason.empty()) {
        job.submitted = *submitted;
        job.batch = static_cast<std::uint32_t>(*batch);
        job.least_gpus = elastic_ ? 1 : 0;
        job.most_gpus = elastic_ ? kMostGpus : 0;
      }
      add_or_leave_out(job, reason, table, log);
    }
  }

 private:
  bool elastic_ = false;
};

template LogFormatEntry log_format_entry_of<PolluxWorkload>();

}  // namespace athanor
