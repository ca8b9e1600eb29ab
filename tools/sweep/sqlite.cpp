#include "tools/sweep/sqlite.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

/// Writers wait so long for one another, and for readers.
constexpr int kPatienceMs = 10'000;

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

}  // namespace

void SqliteFile::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

SqliteFile::SqliteFile(std::string path, Access access) : path_(std::move(path)) {
  const bool exists = std::filesystem::exists(path_);
  if (access == Access::create && exists) { throw FileError(fmt::format("{} exists already", path_)); }
  if (access != Access::create && !exists) {
    throw FileError(fmt::format("cannot open {}: there is no such file", path_));
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &handle, flags_of(access) | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(handle);
  check(code);
  sqlite3_busy_timeout(handle_.get(), kPatienceMs);
}

SqliteFile::~SqliteFile() = default;

void SqliteFile::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) { return; }
  throw FileError(fmt::format("{}: {}{}", path_, sqlite3_errmsg(handle_.get()), advice(code)));
}

void SqliteFile::run(const std::string& statements) {
  check(sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr));
}

SqliteStatement::SqliteStatement(SqliteFile& file, std::string_view text) : file_(file) {
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
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) { return true; }
  const int reset = sqlite3_reset(statement_);
  file_.check(code);
  file_.check(reset);
  return false;
}

std::int64_t SqliteStatement::number(int column) const { return sqlite3_column_int64(statement_, column); }

double SqliteStatement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string SqliteStatement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) { return ""; }
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace athanor
