#include "models/experiments/table.hpp"

#include <fmt/core.h>

#include "sim/printable.hpp"

namespace athanor {

std::string fitted(double value, std::size_t width) {
  for (const int decimals : {2, 1, 0}) {
    std::string text = fmt::format("{:>{}.{}f}", value, width, decimals);
    if (text.size() <= width) { return text; }
  }
  return fmt::format("{:>{}.1e}", value, width);
}

std::string fitted_ms(Time time, std::size_t width) {
  const double ms = microseconds(time) / 1000;
  return ms < 0.1 ? fmt::format("{:>{}.4f}", ms, width) : fitted(ms, width);
}

namespace {

std::string milliseconds_text(double seconds, std::size_t width) {
  const double ms = seconds * 1000;
  return ms < 0.1 ? fmt::format("{:>{}.4f}", ms, width) : fitted(ms, width);
}

std::string figure_text(const Column& column, double value) {
  switch (column.format) {
    case Format::figure: return fitted(value, column.width);
    case Format::one_decimal: return fmt::format("{:.1f}", value);
    case Format::two_decimals: return fmt::format("{:.2f}", value);
    case Format::percent: return fmt::format("{:.2f}", value * 100);
    case Format::signed_percent: return fmt::format("{:+.1f}", value * 100);
    case Format::milliseconds: return milliseconds_text(value, column.width);
    case Format::size: return value == 0 ? "own" : fmt::format("{:.0f}", value);
    case Format::text:
    case Format::word:
    case Format::count: break;
  }
  return fmt::format("{:.0f}", value);
}

std::string cell_text(const Column& column, const JsonValue* value) {
  if (value == nullptr || value->is_null()) { return column.format == Format::text ? "" : "-"; }
  if (value->is_string()) { return printable(value->string()); }
  return figure_text(column, value->number());
}

/// `text` in the column, behind its gap.
std::string placed(const Column& column, std::string_view text) {
  return column.format == Format::text ? fmt::format("{:{}}{:<{}}", "", column.gap, text, column.width)
                                       : fmt::format("{:{}}{:>{}}", "", column.gap, text, column.width);
}

/// `#` stands in the place of the first column's first character.
std::string head_line(const std::vector<const Column*>& columns, std::string_view Column::*text) {
  std::string line;
  for (const Column* column : columns) {
    Column own = *column;
    if (line.empty()) {
      own.gap = 0;
      --own.width;
      line = "#";
    }
    line += placed(own, column->*text);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string ResultTable::head() const {
  return head_line(columns_, &Column::head) + head_line(columns_, &Column::unit);
}

std::string ResultTable::line(const Record& record) const {
  std::string line;
  std::size_t known = 0;  // behind the last value nothing is written
  for (const Column* column : columns_) {
    Column own = *column;
    if (column == columns_.front()) { own.gap = 0; }
    line += placed(own, cell_text(*column, record.find(*column)));
    if (record.has(*column)) { known = line.size(); }
  }
  line.resize(known);
  line.erase(line.find_last_not_of(' ') + 1);
  const JsonValue* extrapolated = record.find(kExtrapolated);
  return line + (extrapolated != nullptr && extrapolated->boolean() ? " *\n" : "\n");
}

std::string ResultTable::lines(const Record& record) const {
  std::string text;
  for (const Record& each : record.lines()) { text += line(each); }
  for (const std::string& remark : record.remarks) { text += "#   " + printable(remark) + "\n"; }
  return text;
}

}  // namespace athanor
