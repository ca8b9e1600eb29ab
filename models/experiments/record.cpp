#include "models/experiments/record.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/quantity.hpp"

namespace athanor {

void Record::put(const Column& column, JsonValue value) {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const auto& each) { return each.first == &column; });
  if (found == values_.end()) {
    values_.emplace_back(&column, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

void Record::put_parts(const Column& column, std::vector<Record> parts) {
  parts_column_ = &column;
  parts_ = std::move(parts);
}

const JsonValue* Record::find(const Column& column) const {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const auto& each) { return each.first == &column; });
  return found == values_.end() ? nullptr : &found->second;
}

double Record::number(const Column& column) const {
  const JsonValue* value = find(column);
  require(value != nullptr, "a record without '{}'", column.key);
  return value->number();
}

std::string Record::string(const Column& column) const {
  const JsonValue* value = find(column);
  return value != nullptr && value->is_string() ? value->string() : "";
}

std::vector<std::string> Record::strings(const Column& column) const {
  std::vector<std::string> all;
  const JsonValue* value = find(column);
  if (value == nullptr || !value->is_list()) { return all; }
  for (const JsonValue& each : value->elements()) { all.push_back(each.string()); }
  return all;
}

JsonValue Record::json() const {
  JsonValue object = JsonValue::object();
  for (const auto& [column, value] : values_) {
    if (!column->key.empty()) { object[column->key] = value; }
  }
  if (parts_column_ == nullptr) { return object; }
  JsonValue list = JsonValue::list();
  for (const Record& part : parts_) { list.push_back(part.json()); }
  object[parts_column_->key] = std::move(list);
  return object;
}

std::vector<Record> Record::lines() const {
  if (parts_column_ == nullptr) { return {*this}; }
  std::vector<Record> lines;
  for (const Record& part : parts_) {
    Record& line = lines.emplace_back();
    line.values_ = values_;
    for (const auto& [column, value] : part.values_) { line.put(*column, value); }
  }
  return lines;
}

Repetitions::Repetitions(std::vector<Record> records, const Column& by) : records_(std::move(records)) {
  require(!records_.empty(), "a row of no repetition");
  std::stable_sort(records_.begin(), records_.end(),
                   [&](const Record& a, const Record& b) { return a.number(by) < b.number(by); });
}

}  // namespace athanor
