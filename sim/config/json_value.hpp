#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace athanor {

/// A JSON value that is made to be written, or was read back: keys stay in the order in which they were put. It costs
/// the files that include it little to compile, which is why results and documents are made of it.
class JsonValue {
 public:
  using List = std::vector<JsonValue>;
  using Member = std::pair<std::string, JsonValue>;
  using Object = std::vector<Member>;  ///< a key stands once

  // Nothing that touches the variant stands in this header: in each of the files that include it, it would be compiled.
  JsonValue();  ///< null
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;
  ~JsonValue();
  JsonValue(std::nullptr_t) : JsonValue() {}
  JsonValue(bool value);
  JsonValue(std::int64_t value);
  JsonValue(std::uint64_t value);
  template <std::signed_integral T>
  JsonValue(T value) : JsonValue(std::int64_t{value}) {}
  template <std::unsigned_integral T>
  JsonValue(T value) : JsonValue(std::uint64_t{value}) {}
  JsonValue(double value);  ///< written as null where it is not finite
  JsonValue(std::string value);
  JsonValue(std::string_view value) : JsonValue(std::string(value)) {}
  JsonValue(const char* value) : JsonValue(std::string(value)) {}
  JsonValue(List value);
  JsonValue(Object value);
  /// {{"key", value}, ...}: an object.
  JsonValue(std::initializer_list<std::pair<std::string_view, JsonValue>> members);
  template <class T>
  requires std::convertible_to<T, JsonValue> JsonValue(const std::vector<T>& values)
      : JsonValue(List(values.begin(), values.end())) {}
  template <class T>
  requires std::convertible_to<T, JsonValue> JsonValue(const std::map<std::string, T>& values)
      : JsonValue(Object(values.begin(), values.end())) {}
  /// Null where there is none.
  template <class T>
  requires std::convertible_to<T, JsonValue> JsonValue(const std::optional<T>& value)
      : JsonValue(value ? JsonValue(*value) : JsonValue()) {}

  static JsonValue list() { return List(); }
  static JsonValue object() { return Object(); }

  bool is_null() const;
  bool is_boolean() const;
  bool is_number() const;
  bool is_floating() const;
  bool is_string() const;
  bool is_list() const;
  bool is_object() const;

  // Each requires that the value is of this type.
  bool boolean() const;
  double number() const;
  /// A number without a point or an exponent, within 64 bits with a sign; none: another one, or no number.
  std::optional<std::int64_t> whole() const;
  const std::string& string() const;
  const List& elements() const;
  const Object& members() const;
  List& elements();
  Object& members();

  /// The value at a key of an object; null pointer: it has no such key, or is no object.
  const JsonValue* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// What one token of a JSON pointer names in an object or a list; null pointer: there is nothing.
  const JsonValue* child(std::string_view token) const;
  JsonValue* child(std::string_view token);
  /// What a JSON pointer ("/a/0", "" for the value itself) names; null pointer: nothing.
  const JsonValue* at(std::string_view pointer) const;
  /// Requires an object that has the key.
  const JsonValue& operator[](std::string_view key) const;
  /// The string, the number at a key; `otherwise` where there is none.
  std::string string_at(std::string_view key, std::string_view otherwise = "") const;
  double number_at(std::string_view key, double otherwise = 0) const;

  /// The value at a key of an object, or of null, which becomes one; a new key stands last, with null.
  JsonValue& operator[](std::string_view key);
  /// Each member of an object as operator[] would.
  void update(const JsonValue& other);
  void erase(std::string_view key);
  /// Appends to a list, or to null, which becomes one.
  void push_back(JsonValue element);
  /// The last element of a list, which has one.
  JsonValue& back();
  /// Elements of a list, members of an object; 0 of all else.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  /// Puts the members of each object in it into the order of their keys.
  void sort_keys();

  bool operator==(const JsonValue& other) const;

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Object> value_;

  friend class JsonWriter;
};

/// As JSON text: in one line without blanks, or with lines indented by `indent` blanks a level where it is not
/// negative. Numbers read back to the same bits. What is no UTF-8 in strings is replaced by U+FFFD.
std::string text_of(const JsonValue& value, int indent = -1);

/// The key that a token of a JSON pointer spells: "~1" is '/', "~0" is '~'.
std::string key_of_token(std::string_view token);

enum class Comments : std::uint8_t { allowed, refused };

/// The value of a JSON text; none where it is not JSON, or nested more deeply than any value of a scenario. What users
/// hand in goes through Document, which says what is wrong and where.
std::optional<JsonValue> json_value_of(std::string_view text, Comments comments = Comments::allowed);

}  // namespace athanor
