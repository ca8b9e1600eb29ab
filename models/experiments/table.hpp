#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/experiments/record.hpp"
#include "sim/time.hpp"

namespace athanor {

/// A number in `width` characters, as nccl-tests prints it: two decimals if they fit, else one, none, or an exponent.
std::string fitted(double value, std::size_t width);

/// What tables write of a value of this column, without blanks around it.
std::string value_text(const Column& column, const JsonValue& value);

/// A table for people, line by line as results become known.
class ResultTable {
 public:
  /// In the order of the table; borrowed for ever.
  explicit ResultTable(std::vector<const Column*> columns) : columns_(std::move(columns)) {}

  /// Heads and units: two lines that begin with '#'.
  std::string head() const;
  /// A line for each line of the record, with " *" behind it where it is extrapolated, then its remarks.
  std::string lines(const Record& record) const;

 private:
  std::string line(const Record& record) const;

  std::vector<const Column*> columns_;
};

/// Where a record stands outside of what its profile was fitted on.
inline constexpr Column kExtrapolated{"extrapolated"};  ///< the profile was not fitted for such a run

/// RFC 4180: what each record has for the keys of `first` and of all records, where each comes first, under a line of
/// these keys. What a record lacks is empty; lists are joined by semicolons.
std::string csv_document(std::span<const Column* const> first, const std::vector<Record>& records);
/// The same of objects, with the keys of `columns` alone, an object or a list of names.
std::string csv_document(const std::vector<std::string>& columns, const std::vector<JsonValue>& records);
/// Keys of all objects, each where it comes first.
std::vector<std::string> keys_of(const std::vector<JsonValue>& records);

/// A text as a field of CSV, quoted where it has to be (RFC 4180). A spreadsheet takes what begins with = + - @, a tab
/// or the end of a line for a formula, and runs it: such a text has a ' before it. Numbers stay numbers. What would
/// move a terminal's cursor is escaped.
std::string csv_field(std::string_view text);

}  // namespace athanor
