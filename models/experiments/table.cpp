#include "models/experiments/table.hpp"

#include <algorithm>
#include <cstdlib>

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

std::string value_text(const Column& column, const JsonValue& value) {
  const std::string text = cell_text(column, &value);
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

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

namespace {

/// "-1.5e3": all of it.
bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

/// A sign alone (what is not there is often written so) is none.
bool runs_as_formula(std::string_view text) {
  constexpr std::string_view kBeginnings = "=+-@\t\r\n";
  return text.size() > 1 && kBeginnings.find(text.front()) != std::string_view::npos && !is_number(std::string(text));
}

std::string plain(const JsonValue& value) { return value.is_string() ? value.string() : text_of(value); }

std::string field(const JsonValue& value) {
  if (!value.is_list()) { return csv_field(plain(value)); }
  std::string text;
  for (const JsonValue& each : value.elements()) { text += (text.empty() ? "" : "; ") + plain(each); }
  return csv_field(text);
}

}  // namespace

std::vector<std::string> keys_of(const std::vector<JsonValue>& records) {
  std::vector<std::string> keys;
  for (const JsonValue& record : records) {
    for (const auto& [key, value] : record.members()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) { keys.push_back(key); }
    }
  }
  return keys;
}

std::string csv_document(const std::vector<std::string>& columns, const std::vector<JsonValue>& records) {
  std::string text;
  for (const std::string& key : columns) { text += (text.empty() ? "" : ",") + csv_field(key); }
  for (const JsonValue& record : records) {
    text += "\n";
    for (const std::string& key : columns) {
      const JsonValue* value = record.find(key);
      text += (&key == columns.data() ? "" : ",") + (value != nullptr ? field(*value) : "");
    }
  }
  return text + "\n";
}

std::string csv_document(std::span<const Column* const> first, const std::vector<Record>& records) {
  std::vector<JsonValue> objects;
  for (const Record& record : records) {
    for (const Record& line : record.lines()) { objects.push_back(line.json()); }
  }
  std::vector<std::string> keys;
  for (const Column* column : first) { keys.emplace_back(column->key); }
  for (std::string& key : keys_of(objects)) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) { keys.push_back(std::move(key)); }
  }
  return csv_document(keys, objects);
}

std::string csv_field(std::string_view text) {
  // Tables go to terminals, too.
  const std::string inert = (runs_as_formula(text) ? "'" : "") + printable(text);
  if (inert.find_first_of(",\"") == std::string::npos) { return inert; }
  std::string quoted = "\"";
  for (const char c : inert) { quoted += c == '"' ? std::string("\"\"") : std::string(1, c); }
  return quoted + "\"";
}

}  // namespace athanor
