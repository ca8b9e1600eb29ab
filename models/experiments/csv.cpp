#include <algorithm>
#include <cstdlib>

#include "models/experiments/table.hpp"
#include "sim/printable.hpp"

namespace athanor {

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
