#include <cmath>

#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/table.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {
constexpr std::int64_t kMostGpus = 1'000'000;
}

/// The columns that the artifact of Sia (SOSP 2023) keeps of Philly: timestamp, duration, num_gpus, gpu_time, cluster.
/// Seconds of durations are whole ones there.
struct SiaSelection final : LogFormat {
  static constexpr std::string_view kName = "sia";
  static constexpr std::string_view kMeaning =
      "CSV of Sia's artifact: timestamp, duration (s), num_gpus, gpu_time, cluster (the queue)";

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    LogTable table(path, {});
    const std::size_t timestamp = table.column("timestamp");
    const std::size_t duration = table.column("duration");
    const std::size_t num_gpus = table.column("num_gpus");
    const std::size_t cluster = table.column("cluster");
    while (table.next()) {
      const auto submitted = date_of(table.field(timestamp));
      const auto ran = seconds_of_text(table.field(duration));
      const auto gpus = whole_number_of(table.field(num_gpus));
      if (!submitted) {
        log.leave_out("timestamp is no date", table.place());
      } else if (!ran) {
        log.leave_out("duration is no number of seconds", table.place());
      } else if (!gpus || *gpus < 1 || *gpus > kMostGpus) {
        log.leave_out("num_gpus is no number from 1 on", table.place());
      } else {
        LoggedJob job;
        job.queue = table.field(cluster);
        job.shape = {{static_cast<std::uint32_t>(*gpus), {.gpus = 1}}};
        job.submitted = *submitted;
        job.duration = *ran - *ran % WallTime{1'000'000};
        log.add(job);
      }
    }
  }
};

template LogFormatEntry log_format_entry_of<SiaSelection>();

}  // namespace athanor
