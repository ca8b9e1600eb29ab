#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"

namespace athanor {

/// Where the figures of a preset come from.
struct Provenance {
  std::map<std::string, std::string> from;  ///< figure -> "what (where)"
  std::vector<std::string> unverified;      ///< figures without a public source
  std::string note;
};

/// "unknown-preset", with the nearest of `names`.
Problem unknown_preset(std::string_view what, const std::string& name, const std::vector<std::string>& names,
                       const SourceLocation& place);

/// The preset of this name; nullptr, and a problem with the nearest name, when there is none.
template <class Preset>
const Preset* find_preset(const std::map<std::string, Preset>& presets, std::string_view what, const std::string& name,
                          const SourceLocation& place, Problems& problems) {
  const auto found = presets.find(name);
  if (found != presets.end()) { return &found->second; }
  std::vector<std::string> names;
  for (const auto& [known, preset] : presets) { names.push_back(known); }
  problems.add(unknown_preset(what, name, names, place));
  return nullptr;
}

/// A device as scenarios write it: Text has the name of a `preset` ("" where all figures are its own), `figures` that
/// win over those of the preset, with a visit, and its `place`. The forms: the preset's name, or an object of both.
template <class Text>
void read_device(FieldValue& value, Text& text) {
  using Type = FieldValue::Form::Type;
  text.place = value.place();
  const auto by_name = [&](FieldValue& name) {
    if (name.writing() && (text.preset.empty() || !json_of(text.figures).empty())) { return; }
    name.visit(text.preset);
  };
  const auto in_full = [&](FieldValue& object) {
    object.object([&](Fields& fields) {
      fields.optional_or("preset", text.preset, std::string(), "What this one differs from; absent: nothing");
      visit(fields, text.figures);
      if (fields.has("preset")) { text.place = fields.place("preset"); }
      if (fields.ok() && text.preset.empty()) { check_alone(fields, text.figures); }
    });
  };
  value.one_of({{Type::string, by_name}, {Type::object, in_full}});
}

/// The same for one that may be absent.
template <class Text>
void optional_device(Fields& fields, std::string_view key, std::string_view meaning, std::optional<Text>& text) {
  if (fields.writing() && !text) { return; }
  fields.optional_value(key, meaning,
                        [&](FieldValue& value) { read_device(value, value.writing() ? *text : text.emplace()); });
}

/// Reports the figures that a device without a preset lacks, one problem each.
struct NeededFigure {
  const char* key;
  bool there;
};
void report_missing(Fields& fields, std::string_view what, const std::vector<NeededFigure>& needed);

/// `figure` where something says it, else as it was.
template <class T, class Said>
void take(T& figure, const std::optional<Said>& said) {
  if (said) { figure = *said; }
}

}  // namespace athanor
