#include <cmath>

#include <fmt/core.h>

#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/row.hpp"
#include "sim/config/fields.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// How fast jobs run.
struct StepRate {
  std::string job_type;               ///< "": any
  std::optional<std::uint32_t> gpus;  ///< none: on any number of them
  Ratio rate{1, 1};                   ///< steps/s
};

void visit(Fields& fields, StepRate& rate) {
  fields.optional("job_type", rate.job_type, "Jobs of this type alone; absent: of all");
  fields.optional("gpus", rate.gpus, "Jobs on so many GPUs alone; absent: on any number");
  fields.required("rate", rate.rate, "Steps per second", {{1, 1'000'000'000}, {1'000'000'000, 1}});
}

}  // namespace

/// Traces of Gavel (OSDI 2020): lines of job_type, command, num_steps_arg, needs_data_dir, total_steps, arrival_time
/// (s) and scale_factor (GPUs), with tabs between. How long a job runs follows from how fast it is, which they do not
/// say.
struct GavelTrace final : LogFormat {
  static constexpr std::string_view kName = "gavel";
  static constexpr std::string_view kMeaning = "Traces of Gavel, with the steps per second of its types of jobs";

  void visit(Fields& fields) override {
    fields.required_list("steps_per_second", rates_, "Rates of jobs; the first that fits counts",
                         [](Fields& f, StepRate& rate) { athanor::visit(f, rate); });
  }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    LogTable table(path, {.separator = '\t',
                          .quoted = false,
                          .columns = {"job_type", "command", "num_steps_arg", "needs_data_dir", "total_steps",
                                      "arrival_time", "scale_factor"}});
    while (table.next()) {
      LoggedJob job;
      add_or_leave_out(job, read_line(table, job), table, log);
    }
  }

 private:
  std::string_view read_line(const LogTable& table, LoggedJob& job) const {
    if (table.fields() != table.columns().size()) { return "it has not 7 fields"; }
    const auto steps = whole_number_of(table.field(4));
    const auto gpus = whole_number_of(table.field(6));
    if (!steps || *steps < 0) { return "total_steps is no number from 0 on"; }
    if (const std::string_view reason = set_shape(job, gpus, {}, TasksOf::gpus); !reason.empty()) { return reason; }
    LoggedTimes times;
    times.submitted = seconds_of_text(table.field(5));
    const double rate = to_double(rate_of(table, static_cast<std::uint32_t>(*gpus)));
    const double ran = static_cast<double>(*steps) / rate * 1e6;
    if (ran > 9e18) { return "it runs for longer than time is counted"; }
    times.ran = WallTime{std::llround(ran)};
    job.queue = table.field(0);
    return set_times(job, times);
  }

  Ratio rate_of(const LogTable& table, std::uint32_t gpus) const {
    const std::string_view type = table.field(0);
    for (const StepRate& each : rates_) {
      if ((each.job_type.empty() || each.job_type == type) && each.gpus.value_or(gpus) == gpus) { return each.rate; }
    }
    throw ScenarioError({"missing-rate",
                         fmt::format("no \"steps_per_second\" is for jobs of type '{}' on {} GPUs", type, gpus),
                         table.place(), R"(add {"job_type": ..., "rate": ...} to the list)"});
  }

  std::vector<StepRate> rates_;
};

template LogFormatEntry log_format_entry_of<GavelTrace>();

}  // namespace athanor
