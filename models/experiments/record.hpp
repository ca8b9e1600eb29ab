#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/json_value.hpp"
#include "sim/percentile.hpp"

namespace athanor {

/// How a table writes the values of a column. All but `text` stand to the right.
enum class Format : std::uint8_t {
  text,            ///< words, to the left
  word,            ///< one word
  count,           ///< a whole number
  size,            ///< bytes; "own" for 0: messages have sizes of their own
  figure,          ///< as many decimals, two at most, as fit into the width
  one_decimal,     ///< 12.3
  two_decimals,    ///< 12.34
  percent,         ///< a share, in percent with two decimals
  signed_percent,  ///< a relative error, in percent with sign and one decimal
  milliseconds,    ///< seconds, in milliseconds; below 0.1 ms with four decimals
};

/// What a column is to who compares results, and draws them.
enum class ColumnRole : std::uint8_t {
  figure,     ///< nothing beyond its value, of which less is better
  rate,       ///< the more the better
  time,       ///< what is compared and drawn where no other figure is asked for
  low_end,    ///< of the interval in which measured times are expected
  high_end,   ///< the same
  profile,    ///< by name, whose error that interval is
  subject,    ///< what was simulated: tells results apart
  condition,  ///< what tells those of one subject apart
  choice,     ///< what tells results apart only where they would be the same otherwise
};

/// Where a column is shown beside the tables of its own kind of experiment.
struct Shown {
  /// In a report's table: words stand before figures, remarks behind.
  enum class Report : std::uint8_t { not_at_all, word, figure, remark };

  bool in_sweeps = false;    ///< in the table of a sweep
  bool in_database = false;  ///< in the view of a sweep's file, for whoever asks it with SQL
  bool beside_time = false;  ///< in plots, where no figure is asked for
  Report in_reports = Report::not_at_all;
  std::string_view report_head = {};          ///< "": head and unit, or else the key
  std::optional<std::uint8_t> decimals = {};  ///< in reports; absent: as its format has them
  std::string_view axis = {};                 ///< of plots: "Bus bandwidth (GB/s)"; "": the key
};

/// A figure of results, declared once: a key of JSON and CSV, and a column of tables. Values are put into a Record.
/// What compares, sweeps, reports and draws results asks the columns that figures() of its kind names, and knows no
/// keys.
struct Column {
  std::string_view key;        ///< of JSON and CSV, with its unit: "time_us"; "": of tables alone
  std::string_view head = {};  ///< of tables; "": of JSON and CSV alone
  std::string_view unit = {};  ///< below the head: "(us)"
  std::uint8_t width = 0;      ///< in characters
  Format format = Format::figure;
  std::uint8_t gap = 1;  ///< blanks before it
  ColumnRole role = ColumnRole::figure;
  /// Of ends and profiles: the time that the interval is of; of rates: the time that they are in inverse proportion to.
  const Column* of = nullptr;
  Shown shown = {};
};

/// One result: values by column, in the order in which JSON has them, and what is told of them beside.
class Record {
 public:
  /// A column that is there already gets the new value, in its place. `column` is borrowed for ever.
  void put(const Column& column, JsonValue value);
  /// Does nothing where there is no value.
  template <class T>
  void put_if(const Column& column, const std::optional<T>& value) {
    if (value) { put(column, *value); }
  }
  /// Results of the same run that have lines, and CSV records, of their own: what each of several jobs took. In JSON a
  /// list at the key of `column`.
  void put_parts(const Column& column, std::vector<Record> parts);

  bool has(const Column& column) const { return find(column) != nullptr; }
  /// Null pointer: it has no such value.
  const JsonValue* find(const Column& column) const;
  /// Requires a number in this column.
  double number(const Column& column) const;
  /// "" where there is none.
  std::string string(const Column& column) const;
  /// Each element of a list of strings; none where there is no such list.
  std::vector<std::string> strings(const Column& column) const;

  /// An object of all values whose columns have keys.
  JsonValue json() const;
  /// What has a line of its own: this record, or each of its parts with what they share.
  std::vector<Record> lines() const;

  std::vector<std::string> remarks = {};  ///< lines of text below its line in a table, without "#   " and line end
  std::string effort = {};                ///< what simulating it took, for --verbose
  std::string ports = {};                 ///< CSV lines of its ports, where asked for
  std::string flows = {};                 ///< CSV lines of its messages, where asked for
  std::string per_job = {};               ///< CSV lines of its jobs, where asked for

 private:
  std::vector<std::pair<const Column*, JsonValue>> values_;
  const Column* parts_column_ = nullptr;
  std::vector<Record> parts_;
};

/// The records of one row, of several seeds, in the order of a column (ties as they came), with percentiles by nearest
/// rank: the least value that at least p of all hundred do not exceed. Each is thus a value that occurred.
class Repetitions {
 public:
  /// Requires a record, and that all have the column.
  Repetitions(std::vector<Record> records, const Column& by);

  const Record& percentile(std::size_t percent) const { return athanor::percentile(records_, percent); }
  const Record& median() const { return percentile(50); }
  std::size_t count() const { return records_.size(); }

 private:
  std::vector<Record> records_;
};

}  // namespace athanor
