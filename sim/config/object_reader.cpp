#include "sim/config/object_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/check.hpp"
#include "sim/config/locator.hpp"

namespace athanor {

using nlohmann::json;

ObjectReader::ObjectReader(ValueReader& value) : value_(value) {
  if (!describing()) { return; }
  json& schema = *value_.schema_;
  schema["type"] = "object";
  schema["properties"] = json::object();
  schema["additionalProperties"] = false;
}

bool ObjectReader::has(std::string_view key) const { return !describing() && value_.json_->contains(std::string(key)); }

Place ObjectReader::place(std::string_view key) const {
  if (describing() || key.empty() || !has(key)) { return value_.place(); }
  return value_.document_->place(value_.pointer_ + "/" + pointer_token(key));
}

void ObjectReader::problem(std::string_view key, std::string code, std::string message, std::string hint) {
  if (describing()) { return; }
  value_.problems_->add({std::move(code), std::move(message), place(key), std::move(hint)});
}

void ObjectReader::declare(std::string_view key, std::string_view meaning, Presence presence, json field) {
  json& schema = *value_.schema_;
  std::string description(meaning);
  if (field.contains("$comment")) {
    description += fmt::format(" ({})", field["$comment"].get<std::string>());
    field.erase("$comment");
  }
  field["description"] = std::move(description);
  schema["properties"][std::string(key)] = std::move(field);
  if (presence == Presence::required) { schema["required"].emplace_back(key); }
}

void ObjectReader::field(std::string_view key, std::string_view meaning, Presence presence, const ReadValue& read) {
  const std::string name(key);
  require(std::find(declared_.begin(), declared_.end(), name) == declared_.end(), "key '{}' is declared twice", name);
  declared_.push_back(name);
  if (describing()) {
    json schema = json::object();
    ValueReader value(schema);
    value.shows_default_ = presence == Presence::optional;
    read(value);
    declare(key, meaning, presence, std::move(schema));
    return;
  }
  const auto found = value_.json_->find(name);
  if (found != value_.json_->end()) {
    ValueReader value(*value_.document_, *value_.problems_, *found, value_.pointer_ + "/" + pointer_token(key));
    read(value);
  } else if (presence == Presence::required) {
    problem("", "missing-key", fmt::format("the key '{}' is missing", name), fmt::format("it is: {}", meaning));
  }
}

void ObjectReader::required_value(std::string_view key, std::string_view meaning, const ReadValue& read) {
  field(key, meaning, Presence::required, read);
}
void ObjectReader::optional_value(std::string_view key, std::string_view meaning, const ReadValue& read) {
  field(key, meaning, Presence::optional, read);
}
void ObjectReader::required_object(std::string_view key, std::string_view meaning, const ReadObject& read) {
  field(key, meaning, Presence::required, [&](ValueReader& value) { value.object(read); });
}
void ObjectReader::optional_object(std::string_view key, std::string_view meaning, const ReadObject& read) {
  field(key, meaning, Presence::optional, [&](ValueReader& value) { value.object(read); });
}
void ObjectReader::required_objects(std::string_view key, std::string_view meaning, const ReadObject& read) {
  required_value(key, meaning,
                 [&](ValueReader& value) { value.list([&](ValueReader& element) { element.object(read); }, {1}); });
}
void ObjectReader::optional_objects(std::string_view key, std::string_view meaning, const ReadObject& read) {
  optional_value(key, meaning,
                 [&](ValueReader& value) { value.list([&](ValueReader& element) { element.object(read); }, {0}); });
}

void ObjectReader::choice(std::string_view key, std::string_view meaning, const std::vector<Kind>& kinds,
                          std::string_view fallback) {
  if (describing()) { return describe_choice(key, meaning, kinds, fallback); }
  std::vector<std::string> names;
  std::size_t index = kinds.size();
  for (const Kind& kind : kinds) {
    if (kind.name == fallback) { index = names.size(); }
    names.emplace_back(kind.name);
  }
  const bool known = has(key) || !fallback.empty();
  bool chosen = known && !has(key);
  field(key, meaning, fallback.empty() ? Presence::required : Presence::optional,
        [&](ValueReader& value) { chosen = value.read_name(index, names); });
  if (chosen) {
    kinds[index].read(*this);
  } else {
    open_ = true;  // which keys are valid is unknown
  }
}

void ObjectReader::describe_choice(std::string_view key, std::string_view meaning, const std::vector<Kind>& kinds,
                                   std::string_view fallback) {
  json& schema = *value_.schema_;
  require(!schema.contains("anyOf"), "an object has one choice at most, '{}' is its second", key);
  for (const Kind& kind : kinds) {
    ValueReader branch(schema["anyOf"].emplace_back(json::object()));
    branch.object([&](ObjectReader& reader) {
      const Presence presence = kind.name == fallback ? Presence::optional : Presence::required;
      json field = {{"const", kind.name}};
      if (kind.name == fallback) { field["default"] = kind.name; }
      reader.declare(key, fmt::format("{}: {}", meaning, kind.meaning), presence, std::move(field));
      kind.read(reader);
    });
  }
}

void ObjectReader::entries(std::string_view meaning,
                           const std::function<void(const std::string&, ValueReader&)>& read) {
  open_ = true;
  if (describing()) {
    json entry = json::object();
    ValueReader value(entry);
    read("", value);
    entry["description"] = meaning;
    (*value_.schema_)["additionalProperties"] = std::move(entry);
    return;
  }
  for (const auto& [key, item] : value_.json_->items()) {
    if (std::find(declared_.begin(), declared_.end(), key) != declared_.end()) { continue; }
    ValueReader value(*value_.document_, *value_.problems_, item, value_.pointer_ + "/" + pointer_token(key));
    read(key, value);
  }
}

void ObjectReader::elsewhere(std::string_view key, std::string_view meaning, const std::function<json()>& schema) {
  declared_.emplace_back(key);
  if (describing()) { declare(key, meaning, Presence::optional, schema()); }
}

namespace {

/// Gives every kind of a choice the fields that stand outside of it: only then can each refuse all other keys.
void spread_common_fields(json& schema) {
  for (json& kind : schema["anyOf"]) {
    kind["properties"].update(schema["properties"]);
    if (schema["additionalProperties"].is_object()) { kind["additionalProperties"] = schema["additionalProperties"]; }
    if (!schema.contains("required")) { continue; }
    for (const json& key : schema["required"]) { kind["required"].push_back(key); }
  }
  schema.erase("properties");
  schema.erase("required");
  schema.erase("additionalProperties");
}

}  // namespace

void ObjectReader::finish() {
  if (describing()) {
    if (value_.schema_->contains("anyOf")) { spread_common_fields(*value_.schema_); }
    return;
  }
  if (open_) { return; }
  for (const auto& item : value_.json_->items()) {
    const std::string& key = item.key();
    if (std::find(declared_.begin(), declared_.end(), key) != declared_.end()) { continue; }
    const std::string near = nearest(key, declared_);
    value_.problems_->add({"unknown-key", fmt::format("there is no key '{}' here", key),
                           value_.document_->key_place(value_.pointer_ + "/" + pointer_token(key)),
                           near.empty() ? fmt::format("keys are: {}", fmt::join(declared_, ", "))
                                        : fmt::format("did you mean '{}'?", near)});
  }
}

void read_document(const Document& document, Problems& problems, const ValueReader::ReadObject& read) {
  ValueReader root(document, problems, document.root(), "");
  root.object(read);
}

json describe_schema(const std::string& title, const ValueReader::ReadObject& read) {
  json schema = json::object();
  ValueReader root(schema);
  root.object(read);
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = title;
  return schema;
}

namespace {

/// In a patch null takes a key out.
void allow_null(json& field) {
  if (field.contains("anyOf")) {
    field["anyOf"].push_back({{"type", "null"}});
    return;
  }
  if (field.contains("enum")) { field["enum"].push_back(nullptr); }
  if (field.contains("type")) { field["type"] = {field["type"], "null"}; }
}

}  // namespace

json patch_schema(json schema) {
  for (const char* key : {"required", "default", "$schema", "title"}) { schema.erase(key); }
  for (const char* key : {"properties", "anyOf"}) {
    if (!schema.contains(key)) { continue; }
    for (json& part : schema[key]) {
      part = patch_schema(std::move(part));
      if (std::string_view(key) == "properties") { allow_null(part); }
    }
  }
  return schema;
}

}  // namespace athanor
