#include <algorithm>
#include <cmath>

#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/row.hpp"
#include "sim/byte_source.hpp"
#include "sim/config/fields.hpp"
#include "sim/quantity.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// Places of the numbers in a line, from 0.
enum Place : std::size_t {
  kId = 0,
  kSubmit = 1,
  kWait = 2,
  kRun = 3,
  kUsed = 4,
  kAsked = 7,
  kAskedTime = 8,
  kStatus = 10,
  kUser = 11,
  kQueue = 14,
  kPreceding = 16,
  kThinkTime = 17,
  kNumbers = 18
};

/// "; UnixStartTime: 845923442" of the comments at the beginning; zero: there is none.
LogTime unix_start_of(const std::string& path) {
  constexpr std::size_t kMostHeader = std::size_t{1} << 20U;
  constexpr std::string_view kKey = "UnixStartTime:";
  ByteSource source(path, Bytes{std::int64_t{1} << 36});
  std::string header(kMostHeader, '\0');
  std::size_t size = 0;
  while (const std::size_t got = source.read(header.data() + size, kMostHeader - size)) { size += got; }
  std::string_view left = without_byte_order_mark(std::string_view(header).substr(0, size));
  while (left.starts_with(';')) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    const std::size_t at = line.find(kKey);
    if (at == std::string_view::npos) { continue; }
    const auto words = words_of_line(line.substr(at + kKey.size()));
    const auto seconds = words.empty() ? std::nullopt : whole_number_of(words.front());
    if (seconds && *seconds >= 0 && *seconds < 1'000'000'000'000) { return LogTime{*seconds * 1'000'000}; }
  }
  return {};
}

/// A whole number, also one that is written with a decimal point; none: it is unknown (-1).
std::optional<std::int64_t> known(std::string_view text) {
  const auto number = number_of(text);
  if (!number || !(*number >= 0) || *number > 9e12) { return {}; }
  return std::llround(*number);
}

}  // namespace

/// Feitelson's Standard Workload Format: lines of 18 numbers, comments behind ';', -1 where a number is unknown.
struct StandardWorkload final : LogFormat {
  static constexpr std::string_view kName = "swf";
  static constexpr std::string_view kMeaning = "Standard Workload Format, whose processors are GPUs";

  void visit(Fields& fields) override {
    fields.optional("processors_per_gpu", processors_per_gpu_, "So many processors of the log are one GPU",
                    {1, 1'000'000});
  }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    const LogTime zero = unix_start_of(path);
    LogTable table(path, {.separator = ' ', .quoted = false, .columns = {"numbers"}, .comment = ';'});
    while (table.next()) {
      LoggedJob job;
      if (known(table.field(kPreceding)).value_or(0) > 0) {
        log.has_no_effect("the preceding job (field 17)", table.place());
      }
      if (known(table.field(kThinkTime)).value_or(0) > 0) {
        log.has_no_effect("the think time (field 18)", table.place());
      }
      add_or_leave_out(job, read_line(table, zero, job), table, log);
    }
  }

 private:
  std::string_view read_line(const LogTable& table, LogTime zero, LoggedJob& job) const {
    if (table.fields() != kNumbers) { return "it has not 18 numbers"; }
    const auto status = known(table.field(kStatus));
    if (status && *status >= 2 && *status <= 4) { return "it is a part of a job that another line holds whole"; }
    LoggedTimes times;
    times.ran = seconds_of_text(table.field(kRun));
    if (!times.ran) { return "its run time is unknown"; }
    const auto submit = seconds_of_text(table.field(kSubmit));
    if (submit) { times.submitted = zero + *submit; }
    const auto wait = seconds_of_text(table.field(kWait));
    if (wait && submit) { times.started = *times.submitted + *wait; }
    job.name = table.field(kId);
    job.user = table.field(kUser) == "-1" ? "" : table.field(kUser);
    job.queue = table.field(kQueue) == "-1" ? "" : table.field(kQueue);
    job.predicted = seconds_of_text(table.field(kAskedTime));
    auto processors = known(table.field(kUsed));
    if (!processors) { processors = known(table.field(kAsked)); }
    if (!processors) { return "its processors are unknown"; }
    if (*processors == 0) { return "it used no processor"; }
    const std::string_view reason =
        set_shape(job, ceil_div(*processors, std::int64_t{processors_per_gpu_}), {}, TasksOf::gpus);
    return reason.empty() ? set_times(job, times) : reason;
  }

  std::uint32_t processors_per_gpu_ = 1;
};

template LogFormatEntry log_format_entry_of<StandardWorkload>();

}  // namespace athanor
