#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_map>

#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/row.hpp"
#include "models/jobs/logs/slurm_words.hpp"
#include "sim/config/fields.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

enum class Requeued : std::uint8_t { last, each };
enum class QueueIs : std::uint8_t { partition, account, qos };

/// Where sacct's fields are; none: the file has no such.
struct SacctColumns {
  explicit SacctColumns(const LogTable& table)
      : id(any_column(table, {"JobIDRaw", "JobID"})),
        submit(table.column("Submit")),
        start(table.column("Start")),
        end(table.find("End")),
        elapsed_raw(table.find("ElapsedRaw")),
        elapsed(table.find("Elapsed")),
        limit_raw(table.find("TimelimitRaw")),
        limit(table.find("Timelimit")),
        state(table.find("State")),
        allocated(table.find("AllocTRES")),
        requested(table.find("ReqTRES")),
        nodes(table.find("NNodes")),
        user(table.find("User")),
        priority(table.find("Priority")) {
    if (!allocated && !requested) { table.column("AllocTRES"); }
    if (!end && !elapsed_raw && !elapsed) { table.column("End"); }
  }

  std::size_t id;
  std::size_t submit;
  std::size_t start;
  std::optional<std::size_t> end;
  std::optional<std::size_t> elapsed_raw;
  std::optional<std::size_t> elapsed;
  std::optional<std::size_t> limit_raw;
  std::optional<std::size_t> limit;
  std::optional<std::size_t> state;
  std::optional<std::size_t> allocated;
  std::optional<std::size_t> requested;
  std::optional<std::size_t> nodes;
  std::optional<std::size_t> user;
  std::optional<std::size_t> priority;
  std::optional<std::size_t> queue;
};

std::string_view text_at(const LogTable& table, std::optional<std::size_t> column) {
  return column ? table.field(*column) : std::string_view();
}

bool is_step(std::string_view id) { return id.find('.') != std::string_view::npos; }

/// Of a row.
bool is_open(const LogTable& table, const SacctColumns& at) {
  const std::string_view state = text_at(table, at.state);
  return is_open_state(state.substr(0, state.find(' ')));
}

/// Whether a row tells of a run of a job, from its start to its end.
bool is_run(const LogTable& table, const SacctColumns& at) {
  return !is_step(table.field(at.id)) && !is_open(table, at) && date_of(table.field(at.start));
}

/// How many runs with the same id are still to come, of ids that have several. A row without a run is none of them: a
/// job that waits once more when the log is taken has run before.
class RepeatedIds {
 public:
  RepeatedIds(LogTable& table, const SacctColumns& at) {
    std::vector<std::uint64_t> ids;
    while (table.next()) {
      if (is_run(table, at)) { ids.push_back(hash_(table.field(at.id))); }
    }
    std::sort(ids.begin(), ids.end());
    for (std::size_t i = 1; i < ids.size(); ++i) {
      if (ids[i] == ids[i - 1]) { left_.try_emplace(ids[i], 1).first->second += 1; }
    }
  }

  bool is_last(std::string_view id) {
    const auto at = left_.find(hash_(id));
    return at == left_.end() || --at->second == 0;
  }

 private:
  std::hash<std::string_view> hash_;
  std::unordered_map<std::uint64_t, std::uint32_t> left_;
};

}  // namespace

/// What Slurm's sacct prints with -P or --parsable. Times are local ones there, and taken as they are written.
struct SlurmSacct final : LogFormat {
  static constexpr std::string_view kName = "slurm";
  static constexpr std::string_view kMeaning = "What Slurm's sacct -P prints";

  void visit(Fields& fields) override {
    fields.optional("columns", columns_, "Names of the fields where the file has no header (--noheader)");
    fields.optional("delimiter", delimiter_, "What stands between fields (--delimiter)");
    if (fields.ok() && delimiter_.size() != 1) {
      fields.problem("delimiter", "out-of-range", "a delimiter is one character", R"(as in "|")");
    }
    visit_tasks(fields, tasks_);
    fields.optional("requeued", requeued_, "Of a job in several rows (-D), the last counts, or each as a job",
                    {{"last", Requeued::last}, {"each", Requeued::each}});
    fields.optional("queue_is", queue_is_, "What is the queue of a job",
                    {{"partition", QueueIs::partition}, {"account", QueueIs::account}, {"qos", QueueIs::qos}});
    fields.optional("typed_gpus", typed_gpus_, "Jobs run on the type of GPU alone that gres/gpu:TYPE names");
  }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    std::optional<RepeatedIds> repeated;
    if (requeued_ == Requeued::last) {
      LogTable table(path, table_shape());
      repeated.emplace(table, SacctColumns(table));
    }
    LogTable table(path, table_shape());
    SacctColumns at(table);
    at.queue = queue_column(table);
    while (table.next()) {
      LoggedJob job;
      const bool last = !repeated || !is_run(table, at) || repeated->is_last(table.field(at.id));
      add_or_leave_out(job, last ? read_row(table, at, job, log) : "a later row is of the same job", table, log);
    }
  }

 private:
  TableShape table_shape() const {
    return {.separator = delimiter_.front(), .quoted = false, .columns = columns_, .separator_key = "delimiter"};
  }

  std::optional<std::size_t> queue_column(const LogTable& table) const {
    switch (queue_is_) {
      case QueueIs::partition: return table.find("Partition");
      case QueueIs::account: return table.column("Account");
      case QueueIs::qos: return table.column("QOS");
    }
    return {};
  }

  /// Why it is no job; "": it is one.
  std::string_view read_row(const LogTable& table, const SacctColumns& at, LoggedJob& job, JobLog& log) const {
    const std::size_t names = table.columns().size();
    const bool ends_with_one = table.fields() == names + 1 && table.field(names).empty();  // --parsable
    if (table.fields() < names) { return "it has fewer fields than there are columns"; }
    if (table.fields() > names && !ends_with_one) { return "it has more fields than there are columns"; }
    job.name = table.field(at.id);
    if (is_step(job.name)) { return "it is a step of a job"; }
    if (is_open(table, at)) { return "it has not ended"; }
    job.user = text_at(table, at.user);
    job.queue = text_at(table, at.queue);
    set_limit(job, table, at);
    std::string_view reason = read_gpus(table, at, job, log.list());
    if (reason.empty()) { reason = read_times(table, at, job); }
    return reason.empty() ? read_priority(table, at, job, log) : reason;
  }

  std::string_view read_gpus(const LogTable& table, const SacctColumns& at, LoggedJob& job, JobList& list) const {
    const std::string_view allocated = text_at(table, at.allocated);
    const auto gpus = tres_gpus_of(allocated.empty() ? text_at(table, at.requested) : allocated);
    if (!gpus) { return "its GPUs are no number from 0 on"; }
    const bool typed = typed_gpus_ && !gpus->type.empty();
    const GpuTypesId types = typed ? list.gpu_types({std::string(gpus->type)}) : GpuTypesId{};
    const std::optional<std::int64_t> nodes = at.nodes ? whole_number_of(table.field(*at.nodes)) : std::nullopt;
    return set_shape(job, gpus->count, nodes, tasks_, types);
  }

  static void set_limit(LoggedJob& job, const LogTable& table, const SacctColumns& at) {
    const auto minutes = seconds_of_text(text_at(table, at.limit_raw));
    job.limit = minutes ? std::optional(*minutes * 60) : slurm_span_of(text_at(table, at.limit));
  }

  static std::string_view read_priority(const LogTable& table, const SacctColumns& at, LoggedJob& job, JobLog& log) {
    const std::string_view text = text_at(table, at.priority);
    if (text.empty()) { return ""; }
    const auto priority = whole_number_of(text);
    if (!priority || *priority < 0) { return "its Priority is no number from 0 on"; }
    constexpr std::int64_t kHighest = std::numeric_limits<std::int32_t>::max();
    if (*priority > kHighest) { log.has_no_effect("what Priority has above 2147483647", table.place()); }
    job.priority = static_cast<std::int32_t>(std::min(*priority, kHighest));
    return "";
  }

  static std::string_view read_times(const LogTable& table, const SacctColumns& at, LoggedJob& job) {
    LoggedTimes times;
    times.submitted = date_of(table.field(at.submit));
    times.started = date_of(table.field(at.start));
    times.ended = date_of(text_at(table, at.end));
    if (!times.started) { return "it never started"; }
    const std::string_view raw = text_at(table, at.elapsed_raw);
    times.ran = raw.empty() ? slurm_span_of(text_at(table, at.elapsed)) : seconds_of_text(raw);
    if (!raw.empty() && !times.ran) { return "ElapsedRaw is no number of seconds"; }
    return set_times(job, times);
  }

  std::vector<std::string> columns_;
  std::string delimiter_ = "|";
  TasksOf tasks_ = TasksOf::nodes;
  Requeued requeued_ = Requeued::last;
  QueueIs queue_is_ = QueueIs::partition;
  bool typed_gpus_ = false;
};

template LogFormatEntry log_format_entry_of<SlurmSacct>();

}  // namespace athanor
