#include "tools/sweep/schema.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/record.hpp"
#include "models/experiments/scenario/experiment_kinds.hpp"
#include "sim/error.hpp"
#include "sim/printable.hpp"

namespace athanor {

namespace {

/// "ATHA", where SQLite keeps what a file is for.
constexpr std::int64_t kApplication = 0x41544841;
/// Of the tables below, and of the columns that are shown in_database. A file of another one is refused, not misread.
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
  for (const Column* figure : figures_of_all_kinds()) {
    if (!figure->shown.in_database) { continue; }
    columns += fmt::format(", json_extract(r.result, '$.{}') AS {}", figure->key, quoted(std::string(figure->key)));
  }
  return fmt::format(
      "CREATE VIEW flat AS SELECT p.point AS point, p.scenario_case AS scenario_case{} FROM points p JOIN results r ON "
      "r.point = p.point;",
      columns);
}

std::int64_t pragma(SqliteFile& file, const char* name) {
  SqliteStatement statement(file, fmt::format("PRAGMA {}", name));
  return statement.step() ? statement.number(0) : 0;
}

using Schema = std::set<std::array<std::string, 4>>;

/// Type, name, table and text of all that a file defines; without the view for people where `view` is false.
Schema schema_of(SqliteFile& file, bool view) {
  Schema schema;
  SqliteStatement rows(file, "SELECT type, name, tbl_name, sql FROM sqlite_master", "sqlite_master");
  while (rows.step()) {
    std::array<std::string, 4> entry{rows.text(0), rows.text(1), rows.text(2), rows.text_or_null(3)};
    if (view || entry[0] != "view" || entry[1] != "flat") { schema.insert(std::move(entry)); }
  }
  return schema;
}

}  // namespace

void create_tables(SqliteFile& file, const SweepPlan& plan) {
  file.run(kTables);
  file.run(flat_view(plan));
  file.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kFormat));
}

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

void check_schema(SqliteFile& file, const SweepPlan* plan) {
  SqliteFile expected(":memory:", SqliteFile::Access::create);
  create_tables(expected, plan == nullptr ? SweepPlan{} : *plan);
  const Schema wanted = schema_of(expected, plan != nullptr);
  const Schema found = schema_of(file, plan != nullptr);
  const auto refuse = [&](const std::array<std::string, 4>& entry, const char* why) {
    throw FileError(
        fmt::format("{}: {} '{}' {}; a file with other tables, views or indices is no sweep: work in a copy",
                    file.path(), printable(entry[0]), printable(entry[1]), why));
  };
  for (const auto& entry : found) {
    if (!wanted.contains(entry)) { refuse(entry, "is not as a sweep writes it"); }
  }
  for (const auto& entry : wanted) {
    if (!found.contains(entry)) { refuse(entry, "is missing"); }
  }
}

}  // namespace athanor
