#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/config/document.hpp"
#include "sim/config/json_value.hpp"
#include "sim/config/limits.hpp"
#include "sim/error.hpp"

namespace athanor {

class Fields;

/// What reading one file (or several) has found wrong. Reading goes on after a problem; throw_if_any ends it.
class Problems {
 public:
  void add(Problem problem) { list_.push_back(std::move(problem)); }
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  const std::vector<Problem>& list() const { return list_; }
  /// Throws ScenarioError with all of them, in the order of the file.
  void throw_if_any() const;

 private:
  std::vector<Problem> list_;
};

/// How settings are written: with every field, or without those that hold what they hold when they are absent.
enum class Detail : std::uint8_t { complete, brief };

/// One value of a document, being read; with the very same calls, the description of such a value as JSON Schema, or
/// the value being written.
///
/// While describing, targets keep what they hold (it becomes the "default"), every alternative and one element of
/// every list is visited. While writing, targets are what is written. Problems are for reading: the two others drop
/// them. A value that is wrong leaves its target as it was.
class FieldValue {
 public:
  using VisitValue = std::function<void(FieldValue&)>;
  using VisitObject = std::function<void(Fields&)>;

  /// One form of a value that may be written in several, told apart by its JSON type.
  struct Form {
    enum class Type : std::uint8_t { string, number, boolean, list, object };
    Type type;
    VisitValue visit;
  };

  FieldValue(const FieldValue&) = delete;
  FieldValue& operator=(const FieldValue&) = delete;

  /// T: an integer, bool, std::string, enum, Time, WallTime, Bytes, Bandwidth, Ratio, or std::optional or std::vector
  /// of these (a list has at least one element). `limits` (limits.hpp) are ranges or names; an enum's names must be
  /// given.
  template <class T>
  void visit(T& target, const LimitsOf<T>& limits = {});

  /// Any string. `pattern` is an (ECMA) regular expression for the schema, "" for none: it does not check; whoever
  /// takes the text apart reports with `problem`. None when it is no string, and where nothing is read.
  std::optional<std::string> text(std::string_view pattern = "");
  /// A T that is written as text: `parse` makes a Parsed<T> of it, `print` the text that reads back to it.
  template <class T, class Parse, class Print>
  void text(T& target, const Parse& parse, const Print& print, std::string_view pattern = "");

  void object(const VisitObject& visit);
  /// Settings, which `visit_one` visits.
  template <class T, class Visit>
  void object(T& settings, const Visit& visit_one);
  /// Calls `visit` once for each element, in order. `size`: how many elements are allowed. Writes nothing.
  void list(const VisitValue& visit, Range<std::uint32_t> size = {1});
  /// A list of T, each of which `visit_one` visits.
  template <class T, class Visit>
  void list(std::vector<T>& target, const Visit& visit_one, Range<std::uint32_t> size);
  /// Calls the form whose type the value has. At most one form per type. Writes the first that has something to write.
  void one_of(std::initializer_list<Form> forms);

  bool reading() const { return json_ != nullptr; }
  bool describing() const { return schema_ != nullptr; }
  bool writing() const { return json_ == nullptr && schema_ == nullptr; }
  /// The JSON itself, nullptr unless reading. For what is read elsewhere.
  const JsonValue* json() const { return json_; }
  const std::string& pointer() const { return pointer_; }
  /// The index in its list of an element, else 0.
  std::size_t index() const { return index_; }
  /// Nowhere unless reading.
  SourceLocation place() const;

  /// Reports this value. Does nothing unless reading.
  void problem(std::string code, std::string message, std::string hint = "");
  /// Whether this was read, and no problem was found in it so far.
  bool ok() const { return reading() && problems_->size() == problems_before_; }
  /// Sets what is written in the place of this value; beside reading: of what was read.
  void put(JsonValue value);

 private:
  friend class Fields;
  friend void read_document(const Document& document, Problems& problems, const VisitObject& visit);
  friend JsonValue resolved_document(const Document& document, Problems& problems, const VisitObject& visit);
  friend JsonValue describe_schema(const std::string& title, const VisitObject& visit);
  friend JsonValue write_fields(const VisitObject& visit, Detail detail, const VisitObject& fresh);

  /// What a writer leaves out: fields that hold their default, or the fields that must be there.
  enum class Omit : std::uint8_t { nothing, defaults, required };

  FieldValue(const Document& document, Problems& problems, const JsonValue& value, std::string pointer);
  explicit FieldValue(JsonValue& schema) : schema_(&schema) {}
  FieldValue(JsonValue& written, Omit omit) : written_(&written), omit_(omit) {}

  template <class T>
  void visit_scalar(T& target, const LimitsOf<T>& limits);
  void visit_exact(std::int64_t& target, const Range<std::int64_t>& range);
  void visit_exact(bool& target, const NoLimits& none);
  void visit_exact(std::string& target, const OneOf& allowed);
  void visit_exact(Time& target, const Range<Time>& range);
  void visit_exact(WallTime& target, const Range<WallTime>& range);
  void visit_exact(Bytes& target, const Range<Bytes>& range);
  void visit_exact(Bandwidth& target, const Range<Bandwidth>& range);
  void visit_exact(Ratio& target, const Range<Ratio>& range);
  /// Sets `index` to that of the name; false when the name is not among them (reported), or nothing is read.
  bool read_name(std::size_t& index, const std::vector<std::string>& names);
  bool expect(bool type_fits, std::string_view expected);
  bool expect_string();
  /// Of a list while writing: `visit` is called with the index of each element.
  void write_list(std::size_t size, const std::function<void(FieldValue&, std::size_t)>& visit);
  /// `fresh` visits settings that hold what theirs hold where nothing is written.
  void write_object(const VisitObject& visit, const VisitObject& fresh);
  template <class T>
  void put_within(const T& value, const Range<T>& range);

  const Document* document_ = nullptr;
  Problems* problems_ = nullptr;
  const JsonValue* json_ = nullptr;
  JsonValue* schema_ = nullptr;
  JsonValue* written_ = nullptr;  ///< while writing; and while reading, where what was read is written, too
  Omit omit_ = Omit::nothing;
  std::string pointer_;
  std::size_t index_ = 0;
  std::size_t problems_before_ = 0;
  bool optional_ = false;  ///< absent, the target keeps what it holds
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
void FieldValue::visit(T& target, const LimitsOf<T>& limits) {
  if constexpr (IsOptional<T>::value) {
    if (writing() && !target) { return; }
    optional_ = optional_ && target.has_value();
    typename T::value_type value = target.value_or(typename T::value_type{});
    visit_scalar(value, limits);
    if (ok()) { target = std::move(value); }
  } else if constexpr (IsVector<T>::value) {
    using Element = typename T::value_type;
    if (writing() && target.empty()) { return; }
    const auto visit_one = [&](FieldValue& element, Element& value) { element.visit_scalar(value, limits); };
    if (!reading()) { return list(target, visit_one, {1}); }
    T values;
    list(values, visit_one, {1});
    if (ok()) { target = std::move(values); }
  } else {
    visit_scalar(target, limits);
  }
}

template <class T>
void FieldValue::visit_scalar(T& target, const LimitsOf<T>& limits) {
  if constexpr (std::is_enum_v<T>) {
    std::vector<std::string> names;
    std::size_t index = limits.named.size();
    for (const Named<T>& named : limits.named) {
      if (named.value == target) { index = names.size(); }
      names.emplace_back(named.name);
    }
    if (index == names.size() && !writing()) { index = 0; }
    if (read_name(index, names)) { target = limits.named[index].value; }
  } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    const auto clip = [](T n) { return std::in_range<std::int64_t>(n) ? static_cast<std::int64_t>(n) : INT64_MAX; };
    std::int64_t value = clip(target);
    visit_exact(value, Range<std::int64_t>{clip(limits.least), clip(limits.most)});
    if (ok()) { target = static_cast<T>(value); }
  } else {
    visit_exact(target, limits);
  }
}

template <class T, class Parse, class Print>
void FieldValue::text(T& target, const Parse& parse, const Print& print, std::string_view pattern) {
  if (writing()) { return put(std::string(print(target))); }
  const std::optional<std::string> found = text(pattern);
  if (!found) { return; }
  auto parsed = parse(*found);
  if (parsed.value) {
    target = std::move(*parsed.value);
  } else {
    problem(parsed.mistake.code, parsed.mistake.message, parsed.mistake.hint);
  }
}

template <class T, class Visit>
void FieldValue::list(std::vector<T>& target, const Visit& visit_one, Range<std::uint32_t> size) {
  if (writing()) {
    return write_list(target.size(), [&](FieldValue& element, std::size_t i) {
      T value = target[i];
      visit_one(element, value);
    });
  }
  std::vector<T> values;
  list(
      [&](FieldValue& element) {
        T value{};
        visit_one(element, value);
        values.push_back(std::move(value));
      },
      size);
  if (reading()) { target = std::move(values); }
}

template <class T, class Visit>
void FieldValue::object(T& settings, const Visit& visit_one) {
  const VisitObject visit_settings = [&](Fields& fields) { visit_one(fields, settings); };
  if (!writing()) { return object(visit_settings); }
  T fresh{};
  write_object(visit_settings, [&](Fields& fields) { visit_one(fields, fresh); });
}

}  // namespace athanor
