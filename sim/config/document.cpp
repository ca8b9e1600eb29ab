#include "sim/config/document.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/check.hpp"
#include "sim/config/locator.hpp"
#include "sim/config/syntax.hpp"
#include "sim/config/text.hpp"
#include "sim/file.hpp"
#include "sim/lines.hpp"
#include "sim/parse.hpp"
#include "sim/words.hpp"

namespace athanor {

using nlohmann::json;

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

Document::Document(std::shared_ptr<const Text> text, json root)
    : text_(std::move(text)), root_(std::make_unique<json>(std::move(root))) {}
Document::Document(const Document& other)
    : text_(other.text_), root_(std::make_unique<json>(*other.root_)), origins_(other.origins_) {}
Document::Document(Document&& other) noexcept = default;
Document& Document::operator=(Document other) noexcept {
  std::swap(text_, other.text_);
  std::swap(root_, other.root_);
  std::swap(origins_, other.origins_);
  return *this;
}
Document::~Document() = default;

Document Document::parse(std::string text, std::string file) {
  json root = parse_json(text, file);
  return {std::make_shared<const Text>(std::move(text), std::move(file)), std::move(root)};
}

Document Document::load(const FileReader& files, const std::string& name) {
  return parse(files.text(name), files.path(name));
}

const std::string& Document::file() const { return text_->file; }

Place Document::place(const std::string& pointer) const { return locate(pointer, false); }
Place Document::key_place(const std::string& pointer) const { return locate(pointer, true); }

Place Document::locate(const std::string& pointer, bool key) const {
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
  Place place = text_->lines->place(text_->file, static_cast<std::ptrdiff_t>(key ? offsets.key : offsets.value));
  place.pointer = std::move(source);
  return place;
}

namespace {

/// The keys of an object, or the indices that an array allows.
std::vector<std::string> keys_of(const json& value) {
  std::vector<std::string> keys;
  if (value.is_object()) {
    for (const auto& item : value.items()) { keys.push_back(pointer_token(item.key())); }
  }
  return keys;
}

bool has_child(const json& value, const std::string& token) {
  try {
    return value.contains(json::json_pointer("/" + token));
  } catch (const json::exception&) { return false; }
}

[[noreturn]] void fail_no_such_key(const std::string& parent, const std::string& token, const json& value) {
  std::string hint;
  const std::string near = nearest(token, keys_of(value));
  if (!near.empty()) { hint = fmt::format("; did you mean '{}/{}'?", parent, near); }
  if (near.empty() && value.is_object()) { hint = fmt::format("; it has: {}", joined(keys_of(value), ", ")); }
  if (value.is_array()) { hint = fmt::format("; it is a list of {}", value.size()); }
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
json& slot(json& root, const std::string& pointer) {
  json* value = &root;
  for (Way way(pointer);; way.go_on()) {
    const std::string token = way.token();
    const bool there = has_child(*value, token);
    const bool may_be_new = value->is_object() && (way.last() || nearest(token, keys_of(*value)).empty());
    if (!there && !may_be_new) { fail_no_such_key(way.parent(), token, *value); }
    value = &(*value)[json::json_pointer("/" + token)];
    if (way.last()) { return *value; }
    if (!there) { *value = json::object(); }
  }
}

/// Takes out what the pointer names. What is not there need not be taken out, unless it was misspelt.
void take_out(json& root, const std::string& pointer) {
  json* value = &root;
  for (Way way(pointer);; way.go_on()) {
    const std::string token = way.token();
    const json::json_pointer child("/" + token);
    if (!has_child(*value, token)) {
      if (!value->is_object() || !nearest(token, keys_of(*value)).empty()) {
        fail_no_such_key(way.parent(), token, *value);
      }
      return;
    }
    if (!way.last()) {
      value = &(*value)[child];
    } else if (value->is_array()) {
      value->erase(static_cast<std::size_t>(parse_count(token).value_or(0)));
      return;
    } else {
      value->erase(child.back());
      return;
    }
  }
}

json value_of(std::string_view text) {
  json value = json_or_discarded(text);
  return value.is_discarded() ? json(text) : value;
}

}  // namespace

void Document::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals < 2 || assignment.front() != '/') {
    throw UsageError(
        fmt::format("--set '{}': expected /json/pointer=value, such as /collective/channels=4", assignment));
  }
  const std::string pointer(assignment.substr(0, equals));
  try {
    json value = value_of(assignment.substr(equals + 1));
    if (value.is_null()) {
      take_out(*root_, pointer);
    } else {
      slot(*root_, pointer) = std::move(value);
    }
  } catch (const json::exception&) {
    throw UsageError(fmt::format("--set '{}': '{}' is not a JSON pointer", assignment, pointer));
  }
  origins_.push_back({pointer, "", true});
}

void Document::merge(json& target, const json& patch, const std::string& at, const std::string& from) {
  for (const auto& [key, value] : patch.items()) {
    const std::string child = at + "/" + pointer_token(key);
    const std::string source = from + "/" + pointer_token(key);
    if (value.is_null()) {
      target.erase(key);
    } else if (value.is_object() && target.contains(key) && target[key].is_object()) {
      merge(target[key], value, child, source);
    } else {
      target[key] = json::object();
      target[key].merge_patch(value);  // drops the nulls within
      origins_.push_back({child, source, false});
    }
  }
}

Document Document::patched(const std::string& list, std::size_t index) const {
  require(root_->is_object() && root_->contains(list) && (*root_)[list].is_array() && index < (*root_)[list].size() &&
              (*root_)[list][index].is_object(),
          "there is no object {} in the list '{}' to patch with", index, list);
  Document result = *this;
  const json patch = (*root_)[list][index];
  result.root_->erase(list);
  const std::string from = fmt::format("/{}/{}", pointer_token(list), index);
  result.merge(*result.root_, patch, "", from);
  return result;
}

}  // namespace athanor
