#include "sim/config/document.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/config/json_parser.hpp"
#include "sim/config/locator.hpp"
#include "sim/file.hpp"
#include "sim/lines.hpp"
#include "sim/parse.hpp"
#include "sim/words.hpp"

namespace athanor {

/// What was read, with the places of its values: found when first asked for.
struct Document::Text {
  std::string text;
  std::string file;
  mutable std::once_flag located;
  mutable Locations locations;
  mutable std::optional<Lines> lines;

  Text(std::string text_read, std::string name) : text(std::move(text_read)), file(std::move(name)) {}

  Offsets find(std::string pointer) const {
    std::call_once(located, [&] {
      locations = locate_values(text);
      lines.emplace(text);
    });
    for (;;) {
      const auto found = locations.values.find(pointer);
      if (found != locations.values.end()) { return found->second; }
      pointer.resize(pointer.rfind('/'));
    }
  }
};

Document Document::parse(std::string text, std::string file) {
  JsonValue root = parse_json(text, file);
  return {std::make_shared<const Text>(std::move(text), std::move(file)), std::move(root)};
}

Document Document::load(const FileReader& files, const std::string& name) {
  return parse(files.text(name), files.path(name));
}

const std::string& Document::file() const { return text_->file; }

SourceLocation Document::place(const std::string& pointer) const { return locate(pointer, false); }
SourceLocation Document::key_place(const std::string& pointer) const { return locate(pointer, true); }

SourceLocation Document::locate(const std::string& pointer, bool key) const {
  std::string source = pointer;
  for (auto origin = origins_.rbegin(); origin != origins_.rend(); ++origin) {
    const bool inside = pointer.starts_with(origin->pointer) &&
                        (pointer.size() == origin->pointer.size() || pointer[origin->pointer.size()] == '/');
    if (!inside) { continue; }
    if (origin->set) { return {"--set", 0, 0, pointer}; }
    source = origin->source + pointer.substr(origin->pointer.size());
    break;
  }
  const Offsets offsets = text_->find(source);
  SourceLocation place =
      text_->lines->place(text_->file, static_cast<std::ptrdiff_t>(key ? offsets.key : offsets.value));
  place.pointer = std::move(source);
  return place;
}

namespace {

/// The keys of an object, as pointers spell them.
std::vector<std::string> keys_of(const JsonValue& value) {
  std::vector<std::string> keys;
  if (value.is_object()) {
    for (const auto& [key, member] : value.members()) { keys.push_back(pointer_token(key)); }
  }
  return keys;
}

/// Whether every '~' begins "~0" or "~1".
bool is_pointer(std::string_view text) {
  for (std::size_t at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) {
    if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) { return false; }
  }
  return true;
}

/// The member of that key, a new one among the others in their order.
JsonValue& member_of(JsonValue& object, const std::string& key) {
  JsonValue::Object& members = object.members();
  const auto place =
      std::lower_bound(members.begin(), members.end(), key,
                       [](const JsonValue::Member& each, const std::string& k) { return each.first < k; });
  if (place != members.end() && place->first == key) { return place->second; }
  return members.emplace(place, key, JsonValue())->second;
}

[[noreturn]] void fail_no_such_key(const std::string& parent, const std::string& token, const JsonValue& value) {
  std::string hint;
  const std::string near = nearest(token, keys_of(value));
  if (!near.empty()) { hint = fmt::format("; did you mean '{}/{}'?", parent, near); }
  if (near.empty() && value.is_object()) { hint = fmt::format("; it has: {}", joined(keys_of(value), ", ")); }
  if (value.is_list()) { hint = fmt::format("; it is a list of {}", value.size()); }
  throw UsageError(fmt::format("--set: there is no '{}' in '{}'{}", token, parent.empty() ? "/" : parent, hint));
}

/// What a JSON pointer names, step by step from the root.
class Way {
 public:
  explicit Way(const std::string& pointer) : pointer_(pointer), end_(std::min(pointer.find('/', 1), pointer.size())) {}

  std::string token() const { return pointer_.substr(begin_, end_ - begin_); }
  std::string parent() const { return pointer_.substr(0, begin_ - 1); }
  bool last() const { return end_ == pointer_.size(); }
  void go_on() {
    begin_ = end_ + 1;
    end_ = std::min(pointer_.find('/', begin_), pointer_.size());
  }

 private:
  const std::string& pointer_;
  std::size_t begin_ = 1;
  std::size_t end_;
};

/// Where the value is to stand. Objects on the way that are not there are made, but where a key of almost the same name
/// is there.
JsonValue& slot(JsonValue& root, const std::string& pointer) {
  JsonValue* value = &root;
  for (Way way(pointer);; way.go_on()) {
    const std::string token = way.token();
    JsonValue* child = value->child(token);
    const bool there = child != nullptr;
    const bool may_be_new = value->is_object() && (way.last() || nearest(token, keys_of(*value)).empty());
    if (!there && !may_be_new) { fail_no_such_key(way.parent(), token, *value); }
    value = there ? child : &member_of(*value, key_of_token(token));
    if (way.last()) { return *value; }
    if (!there) { *value = JsonValue::object(); }
  }
}

/// Takes out what the pointer names. What is not there need not be taken out, unless it was misspelt.
void take_out(JsonValue& root, const std::string& pointer) {
  JsonValue* value = &root;
  for (Way way(pointer);; way.go_on()) {
    const std::string token = way.token();
    JsonValue* child = value->child(token);
    if (child == nullptr) {
      if (!value->is_object() || !nearest(token, keys_of(*value)).empty()) {
        fail_no_such_key(way.parent(), token, *value);
      }
      return;
    }
    if (!way.last()) {
      value = child;
      continue;
    }
    if (value->is_object()) { return value->erase(key_of_token(token)); }
    value->elements().erase(value->elements().begin() + (child - value->elements().data()));
    return;
  }
}

JsonValue value_of(std::string_view text) {
  JsonValue value = json_value_of(text, Comments::refused).value_or(JsonValue(text));
  value.sort_keys();
  return value;
}

/// A patch for nothing: without its nulls, but for those in lists.
JsonValue without_nulls(const JsonValue& patch) {
  if (!patch.is_object()) { return patch; }
  JsonValue result = JsonValue::object();
  for (const auto& [key, value] : patch.members()) {
    if (!value.is_null()) { result.members().emplace_back(key, without_nulls(value)); }
  }
  return result;
}

}  // namespace

void Document::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals < 2 || assignment.front() != '/') {
    throw UsageError(
        fmt::format("--set '{}': expected /json/pointer=value, such as /collective/channels=4", assignment));
  }
  const std::string pointer(assignment.substr(0, equals));
  if (!is_pointer(pointer)) {
    throw UsageError(fmt::format("--set '{}': '{}' is not a JSON pointer", assignment, pointer));
  }
  JsonValue value = value_of(assignment.substr(equals + 1));
  if (value.is_null()) {
    take_out(root_, pointer);
  } else {
    slot(root_, pointer) = std::move(value);
  }
  origins_.push_back({pointer, "", true});
}

void Document::merge(JsonValue& target, const JsonValue& patch, const std::string& at, const std::string& from) {
  for (const auto& [key, value] : patch.members()) {
    const std::string child = at + "/" + pointer_token(key);
    const std::string source = from + "/" + pointer_token(key);
    if (value.is_null()) {
      target.erase(key);
      continue;
    }
    const JsonValue* there = target.find(key);
    JsonValue& merged = member_of(target, key);
    if (value.is_object() && there != nullptr && merged.is_object()) {
      merge(merged, value, child, source);
    } else {
      merged = without_nulls(value);
      origins_.push_back({child, source, false});
    }
  }
}

Document Document::patched(const std::string& list, std::size_t index) const {
  const JsonValue* patches = root_.find(list);
  require(patches != nullptr && patches->is_list() && index < patches->size() && patches->elements()[index].is_object(),
          "there is no object {} in the list '{}' to patch with", index, list);
  Document result = *this;
  result.root_.erase(list);
  const std::string from = fmt::format("/{}/{}", pointer_token(list), index);
  result.merge(result.root_, patches->elements()[index], "", from);
  return result;
}

}  // namespace athanor
