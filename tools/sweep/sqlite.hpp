#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace athanor {

/// An SQLite database file. Errors are FileErrors, which name the file and say what to do where it is known: a full
/// disk, a damaged file, one that is no database, one that another process is writing.
class SqliteFile {
 public:
  enum class Access : std::uint8_t { create, write, read };

  /// Creates only what does not exist, and opens only what exists.
  SqliteFile(std::string path, Access access);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  const std::string& path() const { return path_; }
  /// Statements without parameters and results.
  void run(const std::string& statements);
  sqlite3* handle() const { return handle_.get(); }
  /// Throws FileError for what SQLite returned, unless it is SQLITE_OK, SQLITE_ROW or SQLITE_DONE.
  void check(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A statement that is run again and again. Parameters and columns are counted from 0.
class SqliteStatement {
 public:
  SqliteStatement(SqliteFile& file, std::string_view text);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& bind(int index, std::string_view text);
  SqliteStatement& bind(int index, std::int64_t number);
  SqliteStatement& bind(int index, double number);
  SqliteStatement& bind_null(int index);

  /// Runs it, or goes to its next row; false: there is none, and it can be bound anew.
  bool step();
  std::int64_t number(int column) const;
  double real(int column) const;
  std::string text(int column) const;  ///< "" for null

 private:
  SqliteFile& file_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace athanor
