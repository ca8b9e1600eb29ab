#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/config/value_reader.hpp"

namespace athanor {

/// One JSON object, being read or described: one function declares its fields, and both what is accepted and the JSON
/// Schema follow from it.
///
///   void read(ObjectReader& reader, Link& link) {
///     reader.required("rate", link.rate, "What one direction carries");
///     reader.optional("latency", link.latency, "From end to end", {.most = 1_s});     // default: what link holds
///     reader.optional("level", link.level, "...", {{"ideal", Level::ideal}, {"flow", Level::flow}});
///     reader.optional_object("buffer", "...", [&](ObjectReader& inner) { read(inner, link.buffer); });
///   }
///
/// Each key is declared once. Keys of the object that nobody declared are reported when its reading function has
/// returned. Not to be kept: it lives while the reading function runs.
class ObjectReader {
 public:
  using ReadValue = ValueReader::ReadValue;
  using ReadObject = ValueReader::ReadObject;

  /// One of the kinds that a choice offers; its fields are read by `read` from the same object.
  struct Kind {
    std::string_view name;
    std::string_view meaning;
    ReadObject read;
  };

  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  /// A field that must be there. T and limits: see ValueReader::read. `meaning`: one line for the reader of the schema.
  template <class T>
  void required(std::string_view key, T& target, std::string_view meaning, const LimitsOf<T>& limits = {}) {
    required_value(key, meaning, [&](ValueReader& value) { value.read(target, limits); });
  }
  /// A field that may be absent: the target then keeps what it holds, which is the default that the schema shows.
  template <class T>
  void optional(std::string_view key, T& target, std::string_view meaning, const LimitsOf<T>& limits = {}) {
    optional_value(key, meaning, [&](ValueReader& value) { value.read(target, limits); });
  }

  void required_object(std::string_view key, std::string_view meaning, const ReadObject& read);
  void optional_object(std::string_view key, std::string_view meaning, const ReadObject& read);

  /// A list of objects: `read` is called for each. Required: at least one element.
  void required_objects(std::string_view key, std::string_view meaning, const ReadObject& read);
  void optional_objects(std::string_view key, std::string_view meaning, const ReadObject& read);

  /// Any other value: one of several forms, texts that are taken apart, lists of lists.
  void required_value(std::string_view key, std::string_view meaning, const ReadValue& read);
  void optional_value(std::string_view key, std::string_view meaning, const ReadValue& read);

  /// The string at `key` names one of `kinds`, whose fields stand beside it in this object. `fallback`: the kind of an
  /// object without the key; "": the key is required. At most one choice per object.
  void choice(std::string_view key, std::string_view meaning, const std::vector<Kind>& kinds,
              std::string_view fallback = "");

  /// All keys that are not declared before this call: for objects whose keys are names that the user gives.
  void entries(std::string_view meaning, const std::function<void(const std::string& key, ValueReader&)>& read);

  /// Accepted and left to somebody else to read; `schema` says what it may be (describe_schema, patch_schema).
  void elsewhere(std::string_view key, std::string_view meaning, const std::function<nlohmann::json()>& schema);

  /// Whether the object has this key; false while describing.
  bool has(std::string_view key) const;
  bool describing() const { return value_.describing(); }
  bool ok() const { return value_.ok(); }
  /// The place of a field's value, or of the object when the field is absent or `key` is "".
  Place place(std::string_view key = "") const;
  /// Reports something about the object ("") or one field, such as two fields that exclude each other.
  void problem(std::string_view key, std::string code, std::string message, std::string hint = "");

 private:
  friend class ValueReader;
  enum class Presence : std::uint8_t { required, optional };

  explicit ObjectReader(ValueReader& value);
  void finish();
  void field(std::string_view key, std::string_view meaning, Presence presence, const ReadValue& read);
  void declare(std::string_view key, std::string_view meaning, Presence presence, nlohmann::json schema);
  void describe_choice(std::string_view key, std::string_view meaning, const std::vector<Kind>& kinds,
                       std::string_view fallback);

  ValueReader& value_;
  std::vector<std::string> declared_;
  bool open_ = false;  ///< entries() takes all keys
};

/// Reads the document's root object with `read`; what is wrong with it is added to `problems`.
void read_document(const Document& document, Problems& problems, const ValueReader::ReadObject& read);

/// The JSON Schema (draft-07) of exactly what read_document accepts with the same function. Ranges of quantities that
/// are written as strings, and rules that `problem` reports, are beyond a schema: they are in the descriptions at most.
nlohmann::json describe_schema(const std::string& title, const ValueReader::ReadObject& read);

/// The schema of an RFC 7396 merge patch for documents of `schema`: the same with nothing required.
nlohmann::json patch_schema(nlohmann::json schema);

}  // namespace athanor
