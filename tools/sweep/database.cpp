#include "tools/sweep/database.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/scenario/digest.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/output_file.hpp"
#include "sim/printable.hpp"
#include "tools/cli/read_results.hpp"
#include "tools/sweep/plan_json.hpp"
#include "tools/sweep/schema.hpp"

namespace athanor {

namespace {

using Json = JsonValue;

/// What each axis is at a point, as its labels say.
std::string parameters_text(const SweepPlan& plan, std::uint64_t index) {
  const SweepPlan::Point point = plan.point(index);
  Json labels = Json::list();
  for (std::size_t i = 0; i < plan.axes.size(); ++i) { labels.push_back(plan.axes[i].label(point.steps[i])); }
  return text_of(labels);
}

void put_facts(SqliteFile& file, const SweepIdentity& identity) {
  const std::array<std::pair<const char*, std::string>, 9> facts{{{"scenario", identity.scenario},
                                                                  {"scenario_hash", identity.scenario_hash},
                                                                  {"scenario_text", identity.scenario_text},
                                                                  {"version", identity.version},
                                                                  {"changes", identity.changes},
                                                                  {"points", fmt::format("{}", identity.plan.points())},
                                                                  {"plan", to_json_text(identity.plan)},
                                                                  {"folder", identity.folder},
                                                                  {"data", identity.data}}};
  SqliteStatement statement(file, "INSERT INTO sweep VALUES (?, ?)");
  for (const auto& [key, value] : facts) { statement.bind(0, key).bind(1, value).step(); }
}

/// All of it or nothing.
class Transaction {
 public:
  explicit Transaction(SqliteFile& file) : file_(file) { file_.run("BEGIN IMMEDIATE"); }
  ~Transaction() {
    if (!committed_) {
      try {
        file_.run("ROLLBACK");
      } catch (const FileError&) {}  // the error that led here is the one to tell
    }
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit() {
    file_.run("COMMIT");
    committed_ = true;
  }

 private:
  SqliteFile& file_;
  bool committed_ = false;
};

/// The point of a row, which is in the plan.
std::uint64_t point_of(const SqliteStatement& row, const SweepPlan& plan) {
  const std::int64_t point = row.number(0);
  if (point < 0 || static_cast<std::uint64_t>(point) >= plan.points()) {
    row.refuse(fmt::format("there is no such point among {}", plan.points()));
  }
  return static_cast<std::uint64_t>(point);
}

}  // namespace

std::string canonical_path(const std::string& path) {
  std::error_code mistake;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, mistake);
  return mistake ? path : canonical.string();
}

void SweepDatabase::create(const std::string& path, const SweepIdentity& identity) {
  // Under another name until it is whole: a process that is killed leaves no half of it.
  const std::string unfinished = new_file_beside(path);
  try {
    SqliteFile file(unfinished, SqliteFile::Access::write);
    Transaction transaction(file);
    create_tables(file, identity.plan);
    put_facts(file, identity);
    transaction.commit();
  } catch (const FileError&) {
    std::filesystem::remove(unfinished);
    throw;
  }
  std::error_code mistake;
  std::filesystem::rename(unfinished, path, mistake);
  if (mistake) { throw FileError(fmt::format("cannot make {}: {}", path, mistake.message())); }
}

SweepDatabase::SweepDatabase(const std::string& path, SqliteFile::Access access)
    : file_(std::make_unique<SqliteFile>(path, access)) {
  check_format(*file_);
  check_schema(*file_, nullptr);
  read_facts();
  check_schema(*file_, &plan_);
  if (access == SqliteFile::Access::write) { file_->run("PRAGMA synchronous = FULL"); }
}

void SweepDatabase::read_facts() {
  SqliteStatement rows(*file_, "SELECT key, value FROM sweep", "sweep");
  while (rows.step()) { facts_.emplace(rows.text(0), rows.text(1)); }
  for (const char* key : {"scenario", "scenario_hash", "scenario_text", "version", "changes", "points", "plan"}) {
    if (!facts_.contains(key)) {
      throw FileError(fmt::format("{}: table sweep has no row '{}', which a sweep writes", file_->path(), key));
    }
  }
  const auto row = [&](const char* key) { return fmt::format("{}: table sweep, row '{}'", file_->path(), key); };
  plan_ = plan_from_json(about("plan"), row("plan"));
  if (about("points") != fmt::format("{}", plan_.points())) {
    throw FileError(fmt::format("{}: {} points, but what is varied makes {}", row("points"), printable(about("points")),
                                plan_.points()));
  }
  if (about("scenario_hash") != text_hash(about("scenario_text"))) {
    throw FileError(fmt::format("{}: it is not that of 'scenario_text'", row("scenario_hash")));
  }
}

std::string SweepDatabase::about(std::string_view key) const {
  const auto found = facts_.find(key);
  return found == facts_.end() ? "" : found->second;
}

void SweepDatabase::require_same(const SweepIdentity& identity) {
  const std::array<std::tuple<const char*, const char*, std::string>, 4> facts{
      {{"scenario_hash", "the scenario's text", identity.scenario_hash},
       {"plan", "what is varied", to_json_text(identity.plan)},
       {"changes", "what the command line changes", identity.changes},
       {"version", "the version of athanor", identity.version}}};
  for (const auto& [key, what, value] : facts) {
    const std::string found = about(key);
    if (found == value) { continue; }
    const bool brief = found.size() + value.size() < 100;
    throw FileError(fmt::format("{} holds another sweep: {} differs{}; sweep into another file", file_->path(), what,
                                brief ? fmt::format(" ({} there, {} here)", printable(found), value) : ""));
  }
  folder_ = identity.folder;
  data_ = identity.data;
}

std::vector<SweepDatabase::State> SweepDatabase::states() {
  std::vector<State> states(plan_.points(), State::missing);
  SqliteStatement statement(*file_, "SELECT point, error IS NOT NULL FROM points", "points");
  while (statement.step()) {
    const std::uint64_t point = point_of(statement, plan_);
    states[point] = statement.number(1) != 0 ? State::failed : State::done;
  }
  return states;
}

std::vector<Manifest::Input> SweepDatabase::inputs() {
  std::vector<Manifest::Input> inputs;
  SqliteStatement statement(*file_, "SELECT path, hash FROM inputs ORDER BY path", "inputs");
  while (statement.step()) { inputs.push_back({statement.text(0), statement.text(1)}); }
  return inputs;
}

std::string SweepDatabase::part_of_sweep(const std::string& path) const {
  const std::string folders[][2] = {
      {about("data"), "data"}, {data_, "data"}, {about("folder"), "folder"}, {folder_, "folder"}};
  for (const auto& [folder, part] : folders) {
    if (!folder.empty() && path.starts_with(folder + "/")) { return part + path.substr(folder.size()); }
  }
  return path;
}

void SweepDatabase::add_inputs(const std::vector<Manifest::Input>& inputs) {
  if (inputs.empty()) { return; }
  std::map<std::string, std::string> known;  // by path and by what a file is to the sweep
  const auto know = [&](const Manifest::Input& input) {
    known.emplace(input.path, input.hash);
    known.emplace(part_of_sweep(input.path), input.hash);
  };
  for (const Manifest::Input& each : this->inputs()) { know(each); }
  SqliteStatement add(*file_, "INSERT INTO inputs VALUES (?, ?)");
  for (const Manifest::Input& each : inputs) {
    const Manifest::Input input{canonical_path(each.path), each.hash};
    for (const std::string& name : {input.path, part_of_sweep(input.path)}) {
      const auto found = known.find(name);
      if (found == known.end() || found->second == input.hash) { continue; }
      throw FileError(fmt::format("{} was another file when points of {} were simulated; sweep into another file",
                                  each.path, file_->path()));
    }
    if (!known.contains(input.path)) { add.bind(0, input.path).bind(1, input.hash).step(); }
    know(input);
  }
}

void SweepDatabase::write(const std::vector<SweepOutcome>& outcomes) {
  Transaction transaction(*file_);
  SqliteStatement point(*file_, "INSERT INTO points VALUES (?, ?, ?, ?, ?)");
  SqliteStatement result(*file_, "INSERT INTO results VALUES (?, ?, ?)");
  SqliteStatement execution(*file_, "INSERT INTO executions (point, host, seconds) VALUES (?, ?, ?)");
  for (const SweepOutcome& outcome : outcomes) {
    add_inputs(outcome.inputs);
    const auto index = static_cast<std::int64_t>(outcome.point);
    point.bind(0, index).bind(1, plan_.cases[plan_.point(outcome.point).scenario_case]);
    point.bind(2, parameters_text(plan_, outcome.point));
    outcome.error.empty() ? point.bind_null(3) : point.bind(3, outcome.error);
    point.bind(4, text_of(Json(outcome.warnings))).step();
    for (std::size_t line = 0; line < outcome.results.size(); ++line) {
      result.bind(0, index).bind(1, static_cast<std::int64_t>(line)).bind(2, outcome.results[line]).step();
    }
    execution.bind(0, index).bind(1, outcome.host).bind(2, outcome.seconds).step();
  }
  transaction.commit();
}

void SweepDatabase::forget_failed() {
  Transaction transaction(*file_);
  for (const char* table : {"results", "executions"}) {
    file_->run(fmt::format("DELETE FROM {} WHERE point IN (SELECT point FROM points WHERE error IS NOT NULL)", table));
  }
  file_->run("DELETE FROM points WHERE error IS NOT NULL");
  transaction.commit();
}

SweepOutcome SweepDatabase::outcome_of(const SqliteStatement& row) const {
  SweepOutcome outcome;
  outcome.point = point_of(row, plan_);
  outcome.error = row.text_or_null(1);
  outcome.host = row.text(3);
  outcome.seconds = row.real(4);
  if (row.text(5) != plan_.cases[plan_.point(outcome.point).scenario_case]) {
    row.refuse("'scenario_case' is not that of this point");
  }
  if (row.text(6) != parameters_text(plan_, outcome.point)) { row.refuse("'parameters' are not those of this point"); }
  outcome.warnings = words_from_text(row.text(2), row.place() + ", 'warnings'");
  if (!outcome.error.empty()) { error_from_text(outcome.error, row.place() + ", 'error'"); }
  return outcome;
}

void SweepDatabase::each(const std::function<void(const SweepOutcome&)>& see) {
  SqliteStatement points(*file_,
                         "SELECT p.point, p.error, p.warnings, e.host, e.seconds, p.scenario_case, p.parameters "
                         "FROM points p LEFT JOIN executions e ON e.point = p.point ORDER BY p.point",
                         "points");
  SqliteStatement results(*file_, "SELECT point, line, result FROM results WHERE point = ? ORDER BY line", "results");
  while (points.step()) {
    SweepOutcome outcome = outcome_of(points);
    results.bind(0, points.number(0));
    while (results.step()) {
      if (results.number(1) != static_cast<std::int64_t>(outcome.results.size())) {
        results.refuse(fmt::format("'line' is {} after {} lines", results.number(1), outcome.results.size()));
      }
      outcome.results.push_back(results.text(2));
      result_from_text(outcome.results.back(), fmt::format("{}, line {}", results.place(), results.number(1)));
    }
    if (outcome.results.empty() == outcome.error.empty()) {
      points.refuse("there are results or an error of each point, and not both");
    }
    see(outcome);
  }
}

}  // namespace athanor
