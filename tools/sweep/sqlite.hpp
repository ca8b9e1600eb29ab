#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace athanor {

/// An SQLite database file. Errors are FileErrors, which name the file and say what to do where it is known: a full
/// disk, a damaged file, one that is no database, one that another process is writing. Who made the file is unknown:
/// its schema runs no code (views, triggers, functions), and a query that does not come to its next row is ended.
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
  /// Before each statement, and each row of it: it may take so many steps anew.
  void allow_steps() const { *steps_ = 0; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::string path_;
  std::unique_ptr<int> steps_;  ///< thousands since allow_steps()
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A statement that is run again and again. Parameters and columns are counted from 0.
class SqliteStatement {
 public:
  /// `table`: what it reads from, for messages.
  SqliteStatement(SqliteFile& file, std::string_view text, std::string_view table = "");
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& bind(int index, std::string_view text);
  SqliteStatement& bind(int index, std::int64_t number);
  SqliteStatement& bind(int index, double number);
  SqliteStatement& bind_null(int index);

  /// Runs it, or goes to its next row; false: there is none, and it can be bound anew.
  bool step();

  // Of the row; FileError with table, row and column where the value is of another type.
  std::int64_t number(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string text_or_null(int column) const;  ///< "" for null

  /// "FILE: table points, row 3": the row's first column stands for it.
  std::string place() const;
  /// Throws FileError with the row's place.
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  void expect(int column, int type, std::string_view expected) const;

  SqliteFile& file_;
  std::string table_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace athanor
