#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/field_value.hpp"

namespace athanor {

/// Calls the visit that stands beside a settings struct. Those of a source alone are `static` there, in the namespace
/// of their struct, where a template finds them.
struct VisitSettings {
  template <class T>
  void operator()(Fields& fields, T& settings) const {
    visit(fields, settings);
  }
};

/// One JSON object, being read, described or written: one function declares its fields, and what is accepted, the JSON
/// Schema and what is written follow from it.
///
///   void visit(Fields& fields, Link& link) {
///     fields.required("rate", link.rate, "What one direction carries");
///     fields.optional("latency", link.latency, "From end to end", {.most = 1_s});     // default: what link holds
///     fields.optional("level", link.level, "...", {{"ideal", Level::ideal}, {"flow", Level::flow}});
///     fields.optional_object("buffer", link.buffer, "...");                           // which has a visit, too
///   }
///
/// Each key is declared once. Keys of the object that nobody declared are reported when its visit has returned. Not to
/// be kept: it lives while the visit runs.
///
/// While writing, each field has the form in which it is read; one that holds what cannot be written (nothing, an empty
/// list, what is beyond its limits) is left out, for its absence alone reads back to it. What a function reads with a
/// FieldValue is written where the function can do it (visit, text with a printer, list and object of settings).
class Fields {
 public:
  using VisitValue = FieldValue::VisitValue;
  using VisitObject = FieldValue::VisitObject;

  /// One of the kinds that a choice offers; its fields are visited by `visit` in the same object.
  struct Kind {
    std::string_view name;
    std::string_view meaning;
    VisitObject visit;
    bool chosen = false;  ///< while writing: what is written is of this kind
  };

  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  /// A field that must be there. T and limits: see FieldValue::visit. `meaning`: one line for the user of the schema.
  template <class T>
  void required(std::string_view key, T& target, std::string_view meaning, const LimitsOf<T>& limits = {}) {
    field(key, meaning, Presence::required, [&](FieldValue& value) { value.visit(target, limits); });
  }
  /// A field that may be absent: the target then keeps what it holds, which is the default that the schema shows.
  template <class T>
  void optional(std::string_view key, T& target, std::string_view meaning, const LimitsOf<T>& limits = {}) {
    field(key, meaning, Presence::defaulted, [&](FieldValue& value) { value.visit(target, limits); });
  }
  /// A field that may be absent: the target then becomes `otherwise`, and what is equal to it is not written.
  template <class T>
  void optional_or(std::string_view key, T& target, const T& otherwise, std::string_view meaning,
                   const LimitsOf<T>& limits = {}) {
    if (!writing()) { target = otherwise; }
    if (writing() && target == otherwise) { return; }
    field(key, meaning, Presence::optional, [&](FieldValue& value) { value.visit(target, limits); });
  }

  /// An object with settings T.
  template <class T, class Visit = VisitSettings>
  void required_object(std::string_view key, T& target, std::string_view meaning, const Visit& visit_one = {}) {
    required_object(key, meaning, [&](Fields& fields) { visit_one(fields, target); });
  }
  /// T: settings, or std::optional of settings, which are there when the object is.
  template <class T, class Visit = VisitSettings>
  void optional_object(std::string_view key, T& target, std::string_view meaning, const Visit& visit_one = {});

  /// A list of objects with settings T. Required: at least one element.
  template <class T, class Visit = VisitSettings>
  void required_list(std::string_view key, std::vector<T>& target, std::string_view meaning,
                     const Visit& visit_one = {}) {
    objects(key, target, meaning, Presence::required, visit_one);
  }
  template <class T, class Visit = VisitSettings>
  void optional_list(std::string_view key, std::vector<T>& target, std::string_view meaning,
                     const Visit& visit_one = {}) {
    objects(key, target, meaning, Presence::optional, visit_one);
  }

  // An object, a list of objects that a function visits. A list of such is not written.
  void required_object(std::string_view key, std::string_view meaning, const VisitObject& visit);
  void optional_object(std::string_view key, std::string_view meaning, const VisitObject& visit);
  void required_objects(std::string_view key, std::string_view meaning, const VisitObject& visit);
  void optional_objects(std::string_view key, std::string_view meaning, const VisitObject& visit);

  /// `old` was the name of `key` in former versions: an error that says so.
  void renamed(std::string_view old, std::string_view key);

  /// Any other value: one of several forms, texts that are taken apart, lists of lists.
  void required_value(std::string_view key, std::string_view meaning, const VisitValue& visit);
  void optional_value(std::string_view key, std::string_view meaning, const VisitValue& visit);

  /// The string at `key` names one of `kinds`, whose fields stand beside it in this object. `fallback`: the kind of an
  /// object without the key; "": the key is required. At most one choice per object.
  void choice(std::string_view key, std::string_view meaning, const std::vector<Kind>& kinds,
              std::string_view fallback = "");

  /// All keys that are not declared before this call: for objects whose keys are names that the user gives.
  void entries(std::string_view meaning, const std::function<void(const std::string& key, FieldValue&)>& visit);

  /// Accepted and left to somebody else to read; `schema` says what it may be (describe_schema, patch_schema).
  void elsewhere(std::string_view key, std::string_view meaning, const std::function<JsonValue()>& schema);

  /// Whether the object has this key; false unless reading.
  bool has(std::string_view key) const;
  bool reading() const { return value_.reading(); }
  bool describing() const { return value_.describing(); }
  bool writing() const { return value_.writing(); }
  /// Whether this was read, and no problem was found in it so far.
  bool ok() const { return value_.ok(); }
  /// The place of a field's value, or of the object when the field is absent or `key` is "". Nowhere unless reading.
  SourceLocation place(std::string_view key = "") const;
  /// Reports something about the object ("") or one field, such as two fields that exclude each other. Does nothing
  /// unless reading.
  void problem(std::string_view key, std::string code, std::string message, std::string hint = "");

 private:
  friend class FieldValue;
  /// Defaulted: optional, and what is written where it is absent is what the target holds.
  enum class Presence : std::uint8_t { required, optional, defaulted };

  explicit Fields(FieldValue& value);
  void finish();
  void field(std::string_view key, std::string_view meaning, Presence presence, const VisitValue& visit);
  void describe_field(std::string_view key, std::string_view meaning, Presence presence, const VisitValue& visit);
  void read_field(const std::string& key, std::string_view meaning, Presence presence, const VisitValue& visit);
  void read_value(const std::string& key, const JsonValue& found, const VisitValue& visit);
  void write_field(std::string_view key, Presence presence, const VisitValue& visit);
  void declare(std::string_view key, std::string_view meaning, Presence presence, JsonValue schema);
  void describe_choice(std::string_view key, std::string_view meaning, const std::vector<Kind>& kinds,
                       std::string_view fallback);
  void write_choice(std::string_view key, const std::vector<Kind>& kinds, std::string_view fallback);
  template <class T, class Visit>
  void objects(std::string_view key, std::vector<T>& target, std::string_view meaning, Presence presence,
               const Visit& visit_one);

  FieldValue& value_;
  std::vector<std::string> declared_;
  bool open_ = false;  ///< entries() takes all keys
};

template <class T, class Visit>
void Fields::optional_object(std::string_view key, T& target, std::string_view meaning, const Visit& visit_one) {
  if constexpr (IsOptional<T>::value) {
    using Settings = typename T::value_type;
    if (writing() && !target) { return; }
    optional_value(key, meaning, [&](FieldValue& value) {
      Settings settings = target ? *target : Settings{};
      value.object(settings, [&](Fields& fields, Settings& read) {
        visit_one(fields, read);
        if (fields.reading()) { target = std::move(read); }
      });
    });
  } else {
    field(key, meaning, Presence::defaulted,
          [&](FieldValue& value) { value.object([&](Fields& fields) { visit_one(fields, target); }); });
  }
}

template <class T, class Visit>
void Fields::objects(std::string_view key, std::vector<T>& target, std::string_view meaning, Presence presence,
                     const Visit& visit_one) {
  if (writing() && target.empty() && presence != Presence::required) { return; }
  field(key, meaning, presence, [&](FieldValue& value) {
    const Range<std::uint32_t> size{presence == Presence::required ? 1U : 0U};
    value.list(
        target, [&](FieldValue& element, T& settings) { element.object(settings, visit_one); }, size);
  });
}

/// Reads the document's root object with `visit`; what is wrong with it is added to `problems`.
void read_document(const Document& document, Problems& problems, const FieldValue::VisitObject& visit);

/// As read_document, and returns the document with the defaults of its optional fields filled in and quantities in
/// their shortest form. Defaults that follow from other fields stay out. Meaningful where no problem was found.
JsonValue resolved_document(const Document& document, Problems& problems, const FieldValue::VisitObject& visit);

/// What `visit` writes. Brief: `fresh` visits settings that hold what the others hold where nothing is written.
JsonValue write_fields(const FieldValue::VisitObject& visit, Detail detail, const FieldValue::VisitObject& fresh);

/// Settings as JSON that their visit reads back to the same settings.
template <class T>
JsonValue json_of(T settings, Detail detail = Detail::brief) {
  T fresh{};
  return write_fields([&](Fields& fields) { visit(fields, settings); }, detail,
                      [&](Fields& fields) { visit(fields, fresh); });
}

/// The JSON Schema (draft-07) of exactly what read_document accepts with the same function. Ranges of quantities that
/// are written as strings, and rules that `problem` reports, are beyond a schema: they are in the descriptions at most.
JsonValue describe_schema(const std::string& title, const FieldValue::VisitObject& visit);

/// The schema of an RFC 7396 merge patch for documents of `schema`: the same with nothing required.
JsonValue patch_schema(JsonValue schema);

}  // namespace athanor
