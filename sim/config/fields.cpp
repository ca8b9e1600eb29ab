#include "sim/config/fields.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/locator.hpp"
#include "sim/words.hpp"

namespace athanor {

Fields::Fields(FieldValue& value) : value_(value) {
  if (!describing()) { return; }
  JsonValue& schema = *value_.schema_;
  schema["type"] = "object";
  schema["properties"] = JsonValue::object();
  schema["additionalProperties"] = false;
}

bool Fields::has(std::string_view key) const { return reading() && value_.json_->contains(key); }

SourceLocation Fields::place(std::string_view key) const {
  if (!reading() || key.empty() || !has(key)) { return value_.place(); }
  return value_.document_->place(value_.pointer_ + "/" + pointer_token(key));
}

void Fields::problem(std::string_view key, std::string code, std::string message, std::string hint) {
  if (!reading()) { return; }
  value_.problems_->add({std::move(code), std::move(message), place(key), std::move(hint)});
}

void Fields::declare(std::string_view key, std::string_view meaning, Presence presence, JsonValue field) {
  JsonValue& schema = *value_.schema_;
  std::string description(meaning);
  if (field.contains("$comment")) {
    description += fmt::format(" ({})", field["$comment"].string());
    field.erase("$comment");
  }
  field["description"] = std::move(description);
  schema["properties"][std::string(key)] = std::move(field);
  if (presence == Presence::required) { schema["required"].push_back(key); }
}

void Fields::field(std::string_view key, std::string_view meaning, Presence presence, const VisitValue& visit) {
  std::string name(key);
  require(std::find(declared_.begin(), declared_.end(), name) == declared_.end(), "key '{}' is declared twice", name);
  declared_.push_back(name);
  if (describing()) {
    describe_field(key, meaning, presence, visit);
  } else if (reading()) {
    read_field(name, meaning, presence, visit);
  } else {
    write_field(key, presence, visit);
  }
}

void Fields::describe_field(std::string_view key, std::string_view meaning, Presence presence,
                            const VisitValue& visit) {
  JsonValue schema = JsonValue::object();
  FieldValue value(schema);
  value.optional_ = presence != Presence::required;
  visit(value);
  declare(key, meaning, presence, std::move(schema));
}

void Fields::read_field(const std::string& key, std::string_view meaning, Presence presence, const VisitValue& visit) {
  if (const JsonValue* found = value_.json_->find(key)) {
    read_value(key, *found, visit);
  } else if (presence == Presence::required) {
    problem("", "missing-key", fmt::format("the key '{}' is missing", key), fmt::format("it is: {}", meaning));
  } else if (presence == Presence::defaulted && value_.written_ != nullptr) {
    write_field(key, presence, visit);
  }
}

void Fields::read_value(const std::string& key, const JsonValue& found, const VisitValue& visit) {
  JsonValue* const target = value_.written_;
  JsonValue form;
  FieldValue value(*value_.document_, *value_.problems_, found, value_.pointer_ + "/" + pointer_token(key));
  value.written_ = target == nullptr ? nullptr : &form;
  visit(value);
  if (target != nullptr) { (*target)[key] = form.is_null() ? found : std::move(form); }
}

void Fields::write_field(std::string_view key, Presence presence, const VisitValue& visit) {
  const bool must = presence == Presence::required;
  if (must && value_.omit_ == FieldValue::Omit::required) { return; }
  JsonValue form;
  FieldValue value(form, value_.omit_);
  value.optional_ = !must;
  visit(value);
  require(!must || !form.is_null(), "the field '{}' cannot be written", key);
  if (!form.is_null()) { (*value_.written_)[key] = std::move(form); }
}

void Fields::renamed(std::string_view old, std::string_view key) {
  if (!has(old)) { return; }
  declared_.emplace_back(old);
  problem(old, "renamed-key", fmt::format("the key '{}' is called '{}' now", old, key),
          fmt::format(R"(write "{}" in its place)", key));
}

void Fields::required_value(std::string_view key, std::string_view meaning, const VisitValue& visit) {
  field(key, meaning, Presence::required, visit);
}
void Fields::optional_value(std::string_view key, std::string_view meaning, const VisitValue& visit) {
  field(key, meaning, Presence::optional, visit);
}
void Fields::required_object(std::string_view key, std::string_view meaning, const VisitObject& visit) {
  field(key, meaning, Presence::required, [&](FieldValue& value) { value.object(visit); });
}
void Fields::optional_object(std::string_view key, std::string_view meaning, const VisitObject& visit) {
  field(key, meaning, Presence::optional, [&](FieldValue& value) { value.object(visit); });
}
void Fields::required_objects(std::string_view key, std::string_view meaning, const VisitObject& visit) {
  required_value(key, meaning,
                 [&](FieldValue& value) { value.list([&](FieldValue& element) { element.object(visit); }, {1}); });
}
void Fields::optional_objects(std::string_view key, std::string_view meaning, const VisitObject& visit) {
  optional_value(key, meaning,
                 [&](FieldValue& value) { value.list([&](FieldValue& element) { element.object(visit); }, {0}); });
}

void Fields::choice(std::string_view key, std::string_view meaning, const std::vector<Kind>& kinds,
                    std::string_view fallback) {
  if (describing()) { return describe_choice(key, meaning, kinds, fallback); }
  if (writing()) { return write_choice(key, kinds, fallback); }
  std::vector<std::string> names;
  std::size_t index = kinds.size();
  for (const Kind& kind : kinds) {
    if (kind.name == fallback) { index = names.size(); }
    names.emplace_back(kind.name);
  }
  bool chosen = !has(key) && !fallback.empty();
  field(key, meaning, fallback.empty() ? Presence::required : Presence::optional,
        [&](FieldValue& value) { chosen = value.read_name(index, names); });
  if (!chosen) {
    open_ = true;  // which keys are valid is unknown
    return;
  }
  if (!has(key) && value_.written_ != nullptr) { (*value_.written_)[key] = kinds[index].name; }
  kinds[index].visit(*this);
}

void Fields::write_choice(std::string_view key, const std::vector<Kind>& kinds, std::string_view fallback) {
  auto chosen = std::find_if(kinds.begin(), kinds.end(), [](const Kind& kind) { return kind.chosen; });
  if (chosen == kinds.end()) {
    chosen = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.name == fallback; });
  }
  require(chosen != kinds.end(), "nothing is chosen at '{}'", key);
  const bool left_out = fallback.empty() && value_.omit_ == FieldValue::Omit::required;
  if (!left_out) { (*value_.written_)[key] = chosen->name; }
  chosen->visit(*this);
}

void Fields::describe_choice(std::string_view key, std::string_view meaning, const std::vector<Kind>& kinds,
                             std::string_view fallback) {
  JsonValue& schema = *value_.schema_;
  require(!schema.contains("anyOf"), "an object has one choice at most, '{}' is its second", key);
  for (const Kind& kind : kinds) {
    schema["anyOf"].push_back(JsonValue::object());
    FieldValue branch(schema["anyOf"].back());
    branch.object([&](Fields& fields) {
      const Presence presence = kind.name == fallback ? Presence::optional : Presence::required;
      JsonValue field{{"const", kind.name}};
      if (kind.name == fallback) { field["default"] = kind.name; }
      fields.declare(key, fmt::format("{}: {}", meaning, kind.meaning), presence, std::move(field));
      kind.visit(fields);
    });
  }
}

void Fields::entries(std::string_view meaning, const std::function<void(const std::string&, FieldValue&)>& visit) {
  open_ = true;
  if (describing()) {
    JsonValue entry = JsonValue::object();
    FieldValue value(entry);
    visit("", value);
    entry["description"] = meaning;
    (*value_.schema_)["additionalProperties"] = std::move(entry);
  }
  if (!reading()) { return; }
  const std::vector<std::string> before = declared_;
  for (const auto& [key, item] : value_.json_->members()) {
    if (std::find(before.begin(), before.end(), key) != before.end()) { continue; }
    read_value(key, item, [&, &name = key](FieldValue& value) { visit(name, value); });
  }
}

void Fields::elsewhere(std::string_view key, std::string_view meaning, const std::function<JsonValue()>& schema) {
  declared_.emplace_back(key);
  if (describing()) { declare(key, meaning, Presence::optional, schema()); }
  if (value_.written_ != nullptr && has(key)) { (*value_.written_)[key] = *value_.json_->find(key); }
}

namespace {

/// Gives every kind of a choice the fields that stand outside of it: only then can each refuse all other keys.
void spread_common_fields(JsonValue& schema) {
  for (JsonValue& kind : schema["anyOf"].elements()) {
    kind["properties"].update(schema["properties"]);
    if (schema["additionalProperties"].is_object()) { kind["additionalProperties"] = schema["additionalProperties"]; }
    if (!schema.contains("required")) { continue; }
    for (const JsonValue& key : schema["required"].elements()) { kind["required"].push_back(key); }
  }
  schema.erase("properties");
  schema.erase("required");
  schema.erase("additionalProperties");
}

}  // namespace

void Fields::finish() {
  if (describing()) {
    if (value_.schema_->contains("anyOf")) { spread_common_fields(*value_.schema_); }
    return;
  }
  if (open_ || !reading()) { return; }
  for (const auto& [key, item] : value_.json_->members()) {
    if (std::find(declared_.begin(), declared_.end(), key) != declared_.end()) { continue; }
    const std::string near = nearest(key, declared_);
    value_.problems_->add({"unknown-key", fmt::format("there is no key '{}' here", key),
                           value_.document_->key_place(value_.pointer_ + "/" + pointer_token(key)),
                           near.empty() ? fmt::format("keys are: {}", joined(declared_, ", "))
                                        : fmt::format("did you mean '{}'?", near)});
  }
}

void read_document(const Document& document, Problems& problems, const FieldValue::VisitObject& visit) {
  FieldValue root(document, problems, document.root(), "");
  root.object(visit);
}

JsonValue resolved_document(const Document& document, Problems& problems, const FieldValue::VisitObject& visit) {
  JsonValue resolved;
  FieldValue root(document, problems, document.root(), "");
  root.written_ = &resolved;
  root.object(visit);
  return resolved;
}

namespace {

/// Takes out what `defaults` holds, too.
void subtract(JsonValue& object, const JsonValue& defaults) {
  JsonValue rest = JsonValue::object();
  for (const auto& [key, value] : object.members()) {
    const JsonValue* other = defaults.find(key);
    if (other != nullptr && *other == value) { continue; }
    JsonValue left = value;
    if (other != nullptr && value.is_object() && other->is_object()) {
      subtract(left, *other);
      if (left.empty()) { continue; }
    }
    rest[key] = std::move(left);
  }
  object = std::move(rest);
}

}  // namespace

JsonValue write_fields(const FieldValue::VisitObject& visit, Detail detail, const FieldValue::VisitObject& fresh) {
  JsonValue all;
  FieldValue value(all, detail == Detail::complete ? FieldValue::Omit::nothing : FieldValue::Omit::defaults);
  value.object(visit);
  if (detail == Detail::brief) {
    JsonValue defaults;
    FieldValue other(defaults, FieldValue::Omit::required);
    other.object(fresh);
    subtract(all, defaults);
  }
  return all;
}

JsonValue describe_schema(const std::string& title, const FieldValue::VisitObject& visit) {
  JsonValue schema = JsonValue::object();
  FieldValue root(schema);
  root.object(visit);
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = title;
  schema.sort_keys();
  return schema;
}

namespace {

/// In a patch null takes a key out.
void allow_null(JsonValue& field) {
  if (field.contains("anyOf")) {
    field["anyOf"].push_back(JsonValue{{"type", "null"}});
    return;
  }
  if (field.contains("enum")) { field["enum"].push_back(nullptr); }
  if (field.contains("type")) { field["type"] = JsonValue::List{field["type"], "null"}; }
}

}  // namespace

JsonValue patch_schema(JsonValue schema) {
  for (const char* key : {"required", "default", "$schema", "title"}) { schema.erase(key); }
  if (schema.contains("properties")) {
    for (auto& [key, part] : schema["properties"].members()) {
      part = patch_schema(std::move(part));
      allow_null(part);
    }
  }
  if (schema.contains("anyOf")) {
    for (JsonValue& part : schema["anyOf"].elements()) { part = patch_schema(std::move(part)); }
  }
  return schema;
}

}  // namespace athanor
