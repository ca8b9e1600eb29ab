#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/row.hpp"
#include "sim/config/fields.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

enum class Unscheduled : std::uint8_t { leave_out, from_creation };

std::vector<std::string> alternatives_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find('|');
    if (end != 0) { words.emplace_back(text.substr(0, end)); }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

/// The field as a number from 0 to `most`.
std::optional<std::uint32_t> count_of(std::string_view text, std::int64_t most) {
  const auto number = whole_number_of(text);
  if (!number || *number < 0 || *number > most) { return {}; }
  return static_cast<std::uint32_t>(*number);
}

struct PodColumns {
  explicit PodColumns(const LogTable& table)
      : name(table.column("name")),
        cpu(table.column("cpu_milli")),
        memory(table.column("memory_mib")),
        gpus(table.column("num_gpu")),
        milli(table.column("gpu_milli")),
        spec(table.column("gpu_spec")),
        qos(table.column("qos")),
        created(table.column("creation_time")),
        deleted(table.column("deletion_time")),
        scheduled(table.column("scheduled_time")) {}

  std::size_t name;
  std::size_t cpu;
  std::size_t memory;
  std::size_t gpus;
  std::size_t milli;
  std::size_t spec;
  std::size_t qos;
  std::size_t created;
  std::size_t deleted;
  std::size_t scheduled;
};

/// Why there is none; "": there is.
std::string_view read_demand(const LogTable& table, const PodColumns& at, LoggedJob& job, JobList& list) {
  const auto cpu = count_of(table.field(at.cpu), 1'000'000'000);
  const auto memory = count_of(table.field(at.memory), 1'000'000'000);
  const auto gpus = count_of(table.field(at.gpus), 128);
  const auto milli = count_of(table.field(at.milli), 1000);
  if (!cpu || !memory) { return "its cores or its memory are no number from 0 on"; }
  if (!gpus) { return "num_gpu is no number from 0 to 128"; }
  if (!milli || (*gpus > 0 && *milli == 0)) { return "gpu_milli is no number from 1 to 1000"; }
  if (*gpus > 1 && *milli < 1000) { return "it shares several GPUs"; }
  Demand each{.cpu_milli = *cpu, .memory_mib = *memory};
  const bool shares = *gpus == 1 && *milli < 1000;
  (shares ? each.gpu_milli : each.gpus) = static_cast<std::uint16_t>(shares ? *milli : *gpus);
  if (*gpus > 0) { each.gpu_types = list.gpu_types(alternatives_of(table.field(at.spec))); }
  job.name = table.field(at.name);
  job.queue = table.field(at.qos);
  job.shape = {{1, each}};
  return "";
}

}  // namespace

/// The pod lists of Alibaba's cluster-trace-gpu-v2023 (openb). Each pod is a job of one task; times are seconds.
struct OpenbPods final : LogFormat {
  static constexpr std::string_view kName = "openb";
  static constexpr std::string_view kMeaning = "CSV of pods of Alibaba's cluster-trace-gpu-v2023, with shares of GPUs";

  void visit(Fields& fields) override {
    fields.optional("unscheduled", unscheduled_,
                    "Pods that were never scheduled are left out, or run for as long as they existed",
                    {{"leave_out", Unscheduled::leave_out}, {"from_creation", Unscheduled::from_creation}});
  }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    LogTable table(path, {});
    const PodColumns at(table);
    while (table.next()) {
      LoggedJob job;
      std::string_view reason = read_demand(table, at, job, log.list());
      if (reason.empty()) { reason = read_times(table, at, job); }
      add_or_leave_out(job, reason, table, log);
    }
  }

 private:
  std::string_view read_times(const LogTable& table, const PodColumns& at, LoggedJob& job) const {
    LoggedTimes times;
    times.submitted = seconds_of_text(table.field(at.created));
    times.started = seconds_of_text(table.field(at.scheduled));
    times.ended = seconds_of_text(table.field(at.deleted));
    if (!table.field(at.scheduled).empty() && !times.started) { return "scheduled_time is no number of seconds"; }
    if (unscheduled_ == Unscheduled::leave_out || times.started) { return set_times(job, times); }
    times.started = times.submitted;
    const std::string_view reason = set_times(job, times);
    job.started.reset();
    return reason;
  }

  Unscheduled unscheduled_ = Unscheduled::leave_out;
};

template LogFormatEntry log_format_entry_of<OpenbPods>();

}  // namespace athanor
