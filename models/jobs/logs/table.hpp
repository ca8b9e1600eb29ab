#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/byte_source.hpp"
#include "sim/error.hpp"

namespace athanor {

/// How the lines of a table are cut into fields.
struct TableShape {
  char separator = ',';                   ///< between fields; ' ': any number of blanks
  bool quoted = true;                     ///< a field may stand in quotes (RFC 4180)
  std::vector<std::string> columns = {};  ///< their names, where no line of the file has them
  char comment = '\0';                    ///< begins lines that are none of the table
  std::string_view separator_key = "";    ///< by which a user says what the separator is; "": the format knows
};

/// A text without the mark of UTF-8 that some programs write at the beginning of files.
std::string_view without_byte_order_mark(std::string_view text);

/// A table in a file, read line by line: of any length, compressed or not.
class LogTable {
 public:
  /// Throws FileError; ScenarioError("no-header") where a line of names is expected, and there is none, and
  /// ("duplicate-column") where two columns have one name.
  LogTable(std::string path, const TableShape& shape);

  const std::vector<std::string>& columns() const { return columns_; }
  /// The index of a column; none: there is no such.
  std::optional<std::size_t> find(std::string_view column) const;
  /// Throws ScenarioError("missing-column") with the names that there are.
  std::size_t column(std::string_view column) const;

  /// Goes to the next line that is not empty. False: there is none.
  bool next();
  /// Of the present line; "" for those that it lacks.
  std::string_view field(std::size_t column) const { return column < fields_.size() ? fields_[column] : ""; }
  std::size_t fields() const { return fields_.size(); }
  /// Where the present line begins.
  SourceLocation place() const { return {source_.path(), line_, 0, ""}; }
  const std::string& path() const { return source_.path(); }

 private:
  void refuse_duplicates() const;
  /// What to change where a column is missing.
  std::string hint_of_missing() const;
  bool read_line();
  void split();
  void split_plain();  ///< without quotes

  ByteSource source_;
  TableShape shape_;
  std::vector<std::string> columns_;
  std::string buffer_;
  std::size_t at_ = 0;  ///< of buffer_: what has not been read yet
  bool ended_ = false;
  std::string text_;  ///< the present line, its quotes taken away
  std::vector<std::string_view> fields_;
  int line_ = 0;  ///< the first of the present row
  int next_line_ = 1;
};

}  // namespace athanor
