#include "sim/config/json_value.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/parse.hpp"

namespace athanor {

JsonValue::JsonValue() = default;
JsonValue::JsonValue(const JsonValue& other) = default;
JsonValue::JsonValue(JsonValue&& other) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue& other) = default;
JsonValue& JsonValue::operator=(JsonValue&& other) noexcept = default;
JsonValue::~JsonValue() = default;
JsonValue::JsonValue(bool value) : value_(value) {}
JsonValue::JsonValue(std::int64_t value) : value_(value) {}
JsonValue::JsonValue(std::uint64_t value) : value_(value) {}
JsonValue::JsonValue(double value) : value_(value) {}
JsonValue::JsonValue(std::string value) : value_(std::move(value)) {}
JsonValue::JsonValue(List value) : value_(std::move(value)) {}
JsonValue::JsonValue(Object value) : value_(std::move(value)) {}

JsonValue::JsonValue(std::initializer_list<std::pair<std::string_view, JsonValue>> members) : value_(Object()) {
  Object& object = std::get<Object>(value_);
  object.reserve(members.size());
  for (const auto& [key, value] : members) { object.emplace_back(std::string(key), value); }
}

bool JsonValue::is_null() const { return std::holds_alternative<std::monostate>(value_); }
bool JsonValue::is_boolean() const { return std::holds_alternative<bool>(value_); }
bool JsonValue::is_floating() const { return std::holds_alternative<double>(value_); }
bool JsonValue::is_string() const { return std::holds_alternative<std::string>(value_); }
bool JsonValue::is_list() const { return std::holds_alternative<List>(value_); }
bool JsonValue::is_object() const { return std::holds_alternative<Object>(value_); }

bool JsonValue::is_number() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_) ||
         std::holds_alternative<double>(value_);
}

bool JsonValue::boolean() const {
  require(is_boolean(), "a JSON value is no boolean");
  return std::get<bool>(value_);
}

double JsonValue::number() const {
  require(is_number(), "a JSON value is no number");
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) { return static_cast<double>(*whole); }
  if (const auto* whole = std::get_if<std::uint64_t>(&value_)) { return static_cast<double>(*whole); }
  return std::get<double>(value_);
}

std::optional<std::int64_t> JsonValue::whole() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) { return *whole; }
  const auto* whole = std::get_if<std::uint64_t>(&value_);
  return whole != nullptr && *whole <= INT64_MAX ? std::optional(static_cast<std::int64_t>(*whole)) : std::nullopt;
}

const std::string& JsonValue::string() const {
  require(is_string(), "a JSON value is no string");
  return std::get<std::string>(value_);
}

const JsonValue::List& JsonValue::elements() const {
  require(is_list(), "a JSON value is no list");
  return std::get<List>(value_);
}

const JsonValue::Object& JsonValue::members() const {
  require(is_object(), "a JSON value is no object");
  return std::get<Object>(value_);
}

JsonValue::List& JsonValue::elements() {
  require(is_list(), "a JSON value is no list");
  return std::get<List>(value_);
}

JsonValue::Object& JsonValue::members() {
  require(is_object(), "a JSON value is no object");
  return std::get<Object>(value_);
}

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) { return nullptr; }
  const auto found =
      std::find_if(object->begin(), object->end(), [&](const Member& each) { return each.first == key; });
  return found == object->end() ? nullptr : &found->second;
}

const JsonValue* JsonValue::child(std::string_view token) const {
  if (is_object()) { return find(key_of_token(token)); }
  const bool canonical = token == "0" || !token.starts_with('0');
  const auto index = is_list() && canonical ? parse_count(token) : std::nullopt;
  return index && *index < size() ? &elements()[*index] : nullptr;
}

JsonValue* JsonValue::child(std::string_view token) {
  return const_cast<JsonValue*>(std::as_const(*this).child(token));
}

const JsonValue* JsonValue::at(std::string_view pointer) const {
  const JsonValue* value = this;
  while (value != nullptr && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    value = value->child(pointer.substr(0, end));
    pointer.remove_prefix(end);
  }
  return value;
}

std::string JsonValue::string_at(std::string_view key, std::string_view otherwise) const {
  const JsonValue* found = find(key);
  return found != nullptr && found->is_string() ? found->string() : std::string(otherwise);
}

double JsonValue::number_at(std::string_view key, double otherwise) const {
  const JsonValue* found = find(key);
  return found != nullptr && found->is_number() ? found->number() : otherwise;
}

JsonValue& JsonValue::operator[](std::string_view key) {
  if (is_null()) { value_ = Object(); }
  require(is_object(), "the key '{}' of a JSON value that is no object", key);
  Object& object = std::get<Object>(value_);
  const auto found = std::find_if(object.begin(), object.end(), [&](const Member& each) { return each.first == key; });
  return found == object.end() ? object.emplace_back(std::string(key), JsonValue()).second : found->second;
}

const JsonValue& JsonValue::operator[](std::string_view key) const {
  const JsonValue* found = find(key);
  require(found != nullptr, "a JSON value without the key '{}'", key);
  return *found;
}

void JsonValue::update(const JsonValue& other) {
  for (const auto& [key, value] : other.members()) { (*this)[key] = value; }
}

void JsonValue::erase(std::string_view key) {
  std::erase_if(std::get<Object>(value_), [&](const Member& each) { return each.first == key; });
}

void JsonValue::push_back(JsonValue element) {
  if (is_null()) { value_ = List(); }
  require(is_list(), "an element of a JSON value that is no list");
  std::get<List>(value_).push_back(std::move(element));
}

JsonValue& JsonValue::back() {
  require(is_list() && !empty(), "the last element of a JSON value that has none");
  return std::get<List>(value_).back();
}

std::size_t JsonValue::size() const { return is_list() ? elements().size() : is_object() ? members().size() : 0; }

void JsonValue::sort_keys() {
  if (is_list()) {
    for (JsonValue& element : elements()) { element.sort_keys(); }
  } else if (is_object()) {
    for (Member& member : members()) { member.second.sort_keys(); }
    std::sort(members().begin(), members().end(), [](const Member& a, const Member& b) { return a.first < b.first; });
  }
}

bool JsonValue::operator==(const JsonValue& other) const {
  if (is_number() && other.is_number()) { return number() == other.number(); }
  return value_ == other.value_;
}

std::string key_of_token(std::string_view token) {
  std::string key;
  for (std::size_t at = 0; at < token.size(); ++at) {
    const bool escaped = token[at] == '~' && at + 1 < token.size();
    key += !escaped ? token[at] : token[at + 1] == '0' ? '~' : '/';
    at += escaped ? 1 : 0;
  }
  return key;
}

}  // namespace athanor
