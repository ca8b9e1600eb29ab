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

#include <nlohmann/json_fwd.hpp>

#include "sim/config/document.hpp"
#include "sim/config/limits.hpp"
#include "sim/error.hpp"

namespace athanor {

class ObjectReader;

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

/// One value of a document, being read; or, with the very same calls, the description of such a value as JSON Schema.
/// While describing, targets keep what they hold (it becomes the "default"), every alternative and one element of
/// every list is visited, and problems are dropped. A value that is wrong leaves its target as it was.
class ValueReader {
 public:
  using ReadValue = std::function<void(ValueReader&)>;
  using ReadObject = std::function<void(ObjectReader&)>;

  /// One form of a value that may be written in several, told apart by its JSON type.
  struct Form {
    enum class Type : std::uint8_t { string, number, boolean, list, object };
    Type type;
    ReadValue read;
  };

  ValueReader(const ValueReader&) = delete;
  ValueReader& operator=(const ValueReader&) = delete;

  /// T: an integer, bool, std::string, enum, Time, Bytes, Bandwidth, Ratio, or std::optional or std::vector of these (a
  /// list has at least one element). `limits` (limits.hpp) are ranges or names; an enum's names must be given.
  template <class T>
  void read(T& target, const LimitsOf<T>& limits = {});

  /// Any string. `pattern` is an (ECMA) regular expression for the schema, "" for none: it does not check; whoever
  /// takes the text apart reports with `problem`. None while describing, or when it is no string.
  std::optional<std::string> text(std::string_view pattern = "");

  void object(const ReadObject& read);
  /// Calls `read` once for each element, in order. `size`: how many elements are allowed.
  void list(const ReadValue& read, Range<std::uint32_t> size = {1});
  /// Calls the form whose type the value has. At most one form per type.
  void one_of(std::initializer_list<Form> forms);

  bool describing() const { return schema_ != nullptr; }
  /// The JSON itself, nullptr while describing. For what is read elsewhere.
  const nlohmann::json* json() const { return json_; }
  const std::string& pointer() const { return pointer_; }
  /// The index in its list of an element, else 0.
  std::size_t index() const { return index_; }
  Place place() const;

  /// Reports this value. Does nothing while describing.
  void problem(std::string code, std::string message, std::string hint = "");
  /// Whether no problem was found in this value so far.
  bool ok() const { return describing() || problems_->size() == problems_before_; }

 private:
  friend class ObjectReader;
  friend void read_document(const Document& document, Problems& problems, const ReadObject& read);
  friend nlohmann::json describe_schema(const std::string& title, const ReadObject& read);

  ValueReader(const Document& document, Problems& problems, const nlohmann::json& value, std::string pointer);
  explicit ValueReader(nlohmann::json& schema) : schema_(&schema) {}

  template <class T>
  void read_scalar(T& target, const LimitsOf<T>& limits);
  void read_exact(std::int64_t& target, const Range<std::int64_t>& range);
  void read_exact(bool& target, const NoLimits& none);
  void read_exact(std::string& target, const OneOf& allowed);
  void read_exact(Time& target, const Range<Time>& range);
  void read_exact(Bytes& target, const Range<Bytes>& range);
  void read_exact(Bandwidth& target, const Range<Bandwidth>& range);
  void read_exact(Ratio& target, const Range<Ratio>& range);
  /// Sets `index` to that of the name; false when the name is not among them (reported) or while describing.
  bool read_name(std::size_t& index, const std::vector<std::string>& names);
  bool expect(bool type_fits, std::string_view expected);

  const Document* document_ = nullptr;
  Problems* problems_ = nullptr;
  const nlohmann::json* json_ = nullptr;
  nlohmann::json* schema_ = nullptr;
  std::string pointer_;
  std::size_t index_ = 0;
  std::size_t problems_before_ = 0;
  bool shows_default_ = false;  ///< describing an optional field: what the target holds is its default
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
void ValueReader::read(T& target, const LimitsOf<T>& limits) {
  if constexpr (IsOptional<T>::value) {
    shows_default_ = shows_default_ && target.has_value();
    typename T::value_type value = target.value_or(typename T::value_type{});
    read_scalar(value, limits);
    if (!describing() && ok()) { target = std::move(value); }
  } else if constexpr (IsVector<T>::value) {
    T values;
    list([&](ValueReader& element) {
      typename T::value_type value{};
      element.read_scalar(value, limits);
      values.push_back(std::move(value));
    });
    if (!describing() && ok()) { target = std::move(values); }
  } else {
    read_scalar(target, limits);
  }
}

template <class T>
void ValueReader::read_scalar(T& target, const LimitsOf<T>& limits) {
  if constexpr (std::is_enum_v<T>) {
    std::vector<std::string> names;
    std::size_t index = 0;
    for (const Named<T>& named : limits.named) {
      if (named.value == target) { index = names.size(); }
      names.emplace_back(named.name);
    }
    if (read_name(index, names)) { target = limits.named[index].value; }
  } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    const auto clip = [](T n) { return std::in_range<std::int64_t>(n) ? static_cast<std::int64_t>(n) : INT64_MAX; };
    std::int64_t value = clip(target);
    read_exact(value, Range<std::int64_t>{clip(limits.least), clip(limits.most)});
    if (!describing() && ok()) { target = static_cast<T>(value); }
  } else {
    read_exact(target, limits);
  }
}

}  // namespace athanor
