#include "tools/sweep/sqlite.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <sqlite3.h>

#include "sim/error.hpp"
#include "sim/printable.hpp"

namespace athanor {

namespace {

/// Writers wait so long for one another, and for readers.
constexpr int kPatienceMs = 10'000;
/// From one row to the next, in steps of SQLite's machine: about a second. A whole sweep of a million points is read
/// with less.
constexpr int kMostThousandsOfSteps = 100'000;
/// A value longer than this is none of a sweep.
constexpr int kMostBytesOfValue = 64 << 20;

std::string advice(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL: return "; the disk is full: free some of it, and go on with --resume";
    case SQLITE_IOERR:
      return "; the file system refused it (a full disk or quota?): go on with --resume once it is mended";
    case SQLITE_NOTADB: return "; it is no database: choose another file";
    case SQLITE_CORRUPT: return "; the file is damaged: `sqlite3 FILE .recover` saves what can be read";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "; another process is writing into it";
    case SQLITE_CANTOPEN: return "; does its folder exist, and may one write there?";
    case SQLITE_READONLY: return "; one may not write into it or its folder";
    case SQLITE_INTERRUPT: return "; reading it does not end: a sweep has written no such file";
    default: return "";
  }
}

int flags_of(SqliteFile::Access access) {
  switch (access) {
    case SqliteFile::Access::create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case SqliteFile::Access::write: return SQLITE_OPEN_READWRITE;
    case SqliteFile::Access::read: return SQLITE_OPEN_READONLY;
  }
  return SQLITE_OPEN_READONLY;
}

int count_steps(void* steps) { return ++*static_cast<int*>(steps) > kMostThousandsOfSteps ? 1 : 0; }

/// What a file of unknown origin may do: hold data.
void restrict(sqlite3* handle, int* steps) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostBytesOfValue);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_progress_handler(handle, 1000, &count_steps, steps);
}

/// SQLite would make files beside one whose changes go to a log of their own, even to read it.
void refuse_write_ahead(const std::string& path) {
  constexpr std::size_t kReadVersion = 19;
  constexpr char kWriteAhead = 2;
  std::ifstream file(path, std::ios::binary);
  std::array<char, kReadVersion + 1> head{};
  file.read(head.data(), head.size());
  if (file && head[kReadVersion] == kWriteAhead) {
    throw FileError(
        fmt::format("{}: its changes go to a file beside it, as no sweep writes them; "
                    "`sqlite3 FILE 'PRAGMA journal_mode = DELETE'` ends that",
                    path));
  }
}

}  // namespace

void SqliteFile::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

SqliteFile::SqliteFile(std::string path, Access access) : path_(std::move(path)), steps_(std::make_unique<int>(0)) {
  const bool exists = std::filesystem::exists(path_);
  if (access == Access::create && exists) { throw FileError(fmt::format("{} exists already", path_)); }
  if (access != Access::create && !exists) {
    throw FileError(fmt::format("cannot open {}: there is no such file", path_));
  }
  if (exists) { refuse_write_ahead(path_); }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &handle, flags_of(access) | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(handle);
  check(code);
  sqlite3_busy_timeout(handle_.get(), kPatienceMs);
  restrict(handle_.get(), steps_.get());
  // Memory that is mapped ends the process where another one shortens the file meanwhile.
  run("PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON");
}

SqliteFile::~SqliteFile() = default;

void SqliteFile::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) { return; }
  throw FileError(fmt::format("{}: {}{}", path_, printable(sqlite3_errmsg(handle_.get())), advice(code)));
}

void SqliteFile::run(const std::string& statements) {
  allow_steps();
  check(sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr));
}

SqliteStatement::SqliteStatement(SqliteFile& file, std::string_view text, std::string_view table)
    : file_(file), table_(table) {
  file.allow_steps();
  file.check(sqlite3_prepare_v2(file.handle(), text.data(), static_cast<int>(text.size()), &statement_, nullptr));
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

SqliteStatement& SqliteStatement::bind(int index, std::string_view text) {
  file_.check(sqlite3_bind_text64(statement_, index + 1, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int index, std::int64_t number) {
  file_.check(sqlite3_bind_int64(statement_, index + 1, number));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int index, double number) {
  file_.check(sqlite3_bind_double(statement_, index + 1, number));
  return *this;
}

SqliteStatement& SqliteStatement::bind_null(int index) {
  file_.check(sqlite3_bind_null(statement_, index + 1));
  return *this;
}

bool SqliteStatement::step() {
  file_.allow_steps();
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) { return true; }
  const int reset = sqlite3_reset(statement_);
  file_.check(code);
  file_.check(reset);
  return false;
}

std::string SqliteStatement::place() const {
  std::string key;
  if (sqlite3_column_type(statement_, 0) == SQLITE_INTEGER) {
    key = fmt::format("{}", sqlite3_column_int64(statement_, 0));
  } else if (sqlite3_column_type(statement_, 0) == SQLITE_TEXT) {
    constexpr std::size_t kShown = 60;
    key = fmt::format("'{}'", printable(text(0).substr(0, kShown)));
  } else {
    key = "without a key";
  }
  return fmt::format("{}: table {}, row {}", file_.path(), table_, key);
}

void SqliteStatement::refuse(std::string_view why) const { throw FileError(fmt::format("{}: {}", place(), why)); }

void SqliteStatement::expect(int column, int type, std::string_view expected) const {
  if (sqlite3_column_type(statement_, column) == type) { return; }
  refuse(fmt::format("'{}' is no {}; a sweep writes one there", sqlite3_column_name(statement_, column), expected));
}

std::int64_t SqliteStatement::number(int column) const {
  expect(column, SQLITE_INTEGER, "whole number");
  return sqlite3_column_int64(statement_, column);
}

double SqliteStatement::real(int column) const {
  expect(column, SQLITE_FLOAT, "number");
  return sqlite3_column_double(statement_, column);
}

std::string SqliteStatement::text(int column) const {
  expect(column, SQLITE_TEXT, "text");
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) { return ""; }  // no memory for it in another encoding
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string SqliteStatement::text_or_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL ? "" : text(column);
}

}  // namespace athanor
