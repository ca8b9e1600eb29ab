#include "tools/sweep/database.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/error.hpp"
#include "sim/json/text.hpp"

namespace athanor {

namespace {

using Json = nlohmann::ordered_json;

/// "ATHA", where SQLite keeps what a file is for.
constexpr std::int64_t kApplication = 0x41544841;
/// Of the tables below. A file of another one is refused, not misread.
constexpr std::int64_t kFormat = 2;

constexpr const char* kTables = R"(
CREATE TABLE sweep (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points (point INTEGER PRIMARY KEY, scenario_case TEXT NOT NULL, parameters TEXT NOT NULL,
                     error TEXT, warnings TEXT NOT NULL);
CREATE TABLE results (point INTEGER NOT NULL REFERENCES points(point), line INTEGER NOT NULL, result TEXT NOT NULL,
                      PRIMARY KEY (point, line)) WITHOUT ROWID;
CREATE TABLE inputs (path TEXT PRIMARY KEY, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE executions (point INTEGER PRIMARY KEY, host TEXT NOT NULL, seconds REAL NOT NULL,
                         finished TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')));
)";

/// A name in SQL.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) { text += c == '"' ? std::string("\"\"") : std::string(1, c); }
  return text + "\"";
}

/// One table of everything, for whoever asks the file with SQL: a column for each axis and for the main figures.
std::string flat_view(const SweepPlan& plan) {
  std::string columns;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    columns += fmt::format(", json_extract(p.parameters, '$[{}]') AS {}", i, quoted(plan.axes[i].title()));
  }
  for (const char* key : {"collective", "algorithm", "protocol", "ranks", "bytes", "time_us", "busbw_gbps",
                          "bound_time_us", "limited_by", "step_time_s", "mfu"}) {
    columns += fmt::format(", json_extract(r.result, '$.{}') AS {}", key, quoted(key));
  }
  return fmt::format(
      "CREATE VIEW flat AS SELECT p.point AS point, p.scenario_case AS scenario_case{} FROM points p JOIN results r ON "
      "r.point = p.point;",
      columns);
}

/// What each axis is at a point, as its labels say.
std::string parameters_text(const SweepPlan& plan, std::uint64_t index) {
  const SweepPlan::Point point = plan.point(index);
  Json labels = Json::array();
  for (std::size_t i = 0; i < plan.axes.size(); ++i) { labels.push_back(plan.axes[i].label(point.steps[i])); }
  return text_of(labels);
}

void put_facts(SqliteFile& file, const SweepIdentity& identity) {
  const std::array<std::pair<const char*, std::string>, 7> facts{{{"scenario", identity.scenario},
                                                                  {"scenario_hash", identity.scenario_hash},
                                                                  {"scenario_text", identity.scenario_text},
                                                                  {"version", identity.version},
                                                                  {"changes", identity.changes},
                                                                  {"points", fmt::format("{}", identity.plan.points())},
                                                                  {"plan", to_json_text(identity.plan)}}};
  SqliteStatement statement(file, "INSERT INTO sweep VALUES (?, ?)");
  for (const auto& [key, value] : facts) { statement.bind(0, key).bind(1, value).step(); }
}

std::int64_t pragma(SqliteFile& file, const char* name) {
  SqliteStatement statement(file, fmt::format("PRAGMA {}", name));
  return statement.step() ? statement.number(0) : 0;
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

void check_format(SqliteFile& file) {
  if (pragma(file, "application_id") != kApplication) {
    throw FileError(fmt::format("{} is a database, but none of a sweep; choose another file", file.path()));
  }
  const std::int64_t format = pragma(file, "user_version");
  if (format != kFormat) {
    throw FileError(
        fmt::format("{} has format {} of sweeps, and this athanor reads format {}; use the athanor that "
                    "wrote it, or sweep anew",
                    file.path(), format, kFormat));
  }
}

}  // namespace

std::string to_json_text(const SweepPlan& plan) {
  Json axes = Json::array();
  for (const SweepAxis& axis : plan.axes) {
    axes.push_back(
        {{"name", axis.name}, {"pointers", axis.pointers}, {"values", axis.values}, {"labels", axis.labels}});
  }
  return text_of(Json{{"cases", plan.cases}, {"axes", axes}});
}

SweepPlan plan_from_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  SweepPlan plan;
  json.at("cases").get_to(plan.cases);
  for (const nlohmann::json& each : json.at("axes")) {
    SweepAxis& axis = plan.axes.emplace_back();
    each.at("name").get_to(axis.name);
    each.at("pointers").get_to(axis.pointers);
    each.at("values").get_to(axis.values);
    each.at("labels").get_to(axis.labels);
  }
  return plan;
}

void SweepDatabase::create(const std::string& path, const SweepIdentity& identity) {
  if (std::filesystem::exists(path)) { throw FileError(fmt::format("{} exists already", path)); }
  // Under another name until it is whole: a process that is killed leaves no half of it.
  const std::string unfinished = path + ".new";
  std::filesystem::remove(unfinished);
  {
    SqliteFile file(unfinished, SqliteFile::Access::create);
    Transaction transaction(file);
    file.run(kTables);
    file.run(flat_view(identity.plan));
    file.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kFormat));
    put_facts(file, identity);
    transaction.commit();
  }
  std::error_code mistake;
  std::filesystem::rename(unfinished, path, mistake);
  if (mistake) { throw FileError(fmt::format("cannot make {}: {}", path, mistake.message())); }
}

SweepDatabase::SweepDatabase(const std::string& path, SqliteFile::Access access)
    : file_(std::make_unique<SqliteFile>(path, access)) {
  check_format(*file_);
  if (access == SqliteFile::Access::write) { file_->run("PRAGMA synchronous = FULL"); }
  try {
    plan_ = plan_from_json(about("plan"));
  } catch (const nlohmann::json::exception&) {
    throw FileError(fmt::format("{} is damaged: what was varied cannot be read", path));
  }
}

std::string SweepDatabase::about(std::string_view key) {
  SqliteStatement statement(*file_, "SELECT value FROM sweep WHERE key = ?");
  return statement.bind(0, key).step() ? statement.text(0) : "";
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
                                brief ? fmt::format(" ({} there, {} here)", found, value) : ""));
  }
}

std::vector<SweepDatabase::State> SweepDatabase::states() {
  std::vector<State> states(plan_.points(), State::missing);
  SqliteStatement statement(*file_, "SELECT point, error IS NOT NULL FROM points");
  while (statement.step()) {
    const auto point = static_cast<std::uint64_t>(statement.number(0));
    if (point >= states.size()) {
      throw FileError(fmt::format("{} is damaged: it has a point {} of {}", file_->path(), point, states.size()));
    }
    states[point] = statement.number(1) != 0 ? State::failed : State::done;
  }
  return states;
}

std::vector<Manifest::Input> SweepDatabase::inputs() {
  std::vector<Manifest::Input> inputs;
  SqliteStatement statement(*file_, "SELECT path, hash FROM inputs ORDER BY path");
  while (statement.step()) { inputs.push_back({statement.text(0), statement.text(1)}); }
  return inputs;
}

void SweepDatabase::add_inputs(const std::vector<Manifest::Input>& inputs) {
  if (inputs.empty()) { return; }
  std::map<std::string, std::string> known;
  for (const Manifest::Input& each : this->inputs()) { known.emplace(each.path, each.hash); }
  SqliteStatement add(*file_, "INSERT INTO inputs VALUES (?, ?)");
  for (const Manifest::Input& input : inputs) {
    const auto [place, added] = known.emplace(input.path, input.hash);
    if (added) {
      add.bind(0, input.path).bind(1, input.hash).step();
    } else if (place->second != input.hash) {
      throw FileError(fmt::format("{} was another file when points of {} were simulated; sweep into another file",
                                  input.path, file_->path()));
    }
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

void SweepDatabase::each(const std::function<void(const SweepOutcome&)>& see) {
  SqliteStatement points(*file_,
                         "SELECT p.point, p.error, p.warnings, e.host, e.seconds FROM points p LEFT JOIN executions e "
                         "ON e.point = p.point ORDER BY p.point");
  SqliteStatement results(*file_, "SELECT result FROM results WHERE point = ? ORDER BY line");
  while (points.step()) {
    SweepOutcome outcome{.point = static_cast<std::uint64_t>(points.number(0)),
                         .results = {},
                         .warnings = {},
                         .error = points.text(1),
                         .host = points.text(3),
                         .seconds = points.real(4)};
    outcome.warnings = json_or_discarded(points.text(2)).get<std::vector<std::string>>();
    results.bind(0, points.number(0));
    while (results.step()) { outcome.results.push_back(results.text(0)); }
    see(outcome);
  }
}

}  // namespace athanor
