#include "sim/config/describe.hpp"

#include <fmt/core.h>

#include "sim/format.hpp"

namespace athanor {

namespace {

constexpr std::string_view kNumber = "^-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)? ?";

/// A quantity is a string of this pattern; its range is beyond a schema and is said in words.
template <class T>
void describe_quantity(JsonValue& schema, std::string_view units, T value, const Range<T>& range, bool with_default) {
  schema["type"] = "string";
  schema["pattern"] = fmt::format("{}({})$", kNumber, units);
  if (range.most == Natural<T>::most) {
    schema["$comment"] = fmt::format("at least {}", to_string(range.least));
  } else {
    schema["$comment"] = fmt::format("from {} to {}", to_string(range.least), to_string(range.most));
  }
  if (with_default) { schema["default"] = to_string(value); }
}

}  // namespace

void describe_integer(JsonValue& schema, std::int64_t value, const Range<std::int64_t>& range, bool with_default) {
  schema["type"] = "integer";
  if (range.least != INT64_MIN) { schema["minimum"] = range.least; }
  if (range.most != INT64_MAX) { schema["maximum"] = range.most; }
  if (with_default) { schema["default"] = value; }
}

void describe_boolean(JsonValue& schema, bool value, bool with_default) {
  schema["type"] = "boolean";
  if (with_default) { schema["default"] = value; }
}

void describe_string(JsonValue& schema, const std::string& value, bool with_default) {
  schema["type"] = "string";
  if (with_default && !value.empty()) { schema["default"] = value; }
}

void describe_time(JsonValue& schema, Time value, const Range<Time>& range, bool with_default) {
  describe_quantity(schema, "ps|ns|us|\u00b5s|ms|s", value, range, with_default);
}

void describe_wall_time(JsonValue& schema, WallTime value, const Range<WallTime>& range, bool with_default) {
  describe_quantity(schema, "us|\u00b5s|ms|s|min|h|d|w", value, range, with_default);
}

void describe_bytes(JsonValue& schema, Bytes value, const Range<Bytes>& range, bool with_default) {
  describe_quantity(schema, "B|[kKMGT]B|[KMGT]iB", value, range, with_default);
}

void describe_bandwidth(JsonValue& schema, Bandwidth value, const Range<Bandwidth>& range, bool with_default) {
  describe_quantity(schema, "([kKMGT]|[KMGT]i)?B/s|[kKMGT]?(b/s|bit/s|bps)", value, range, with_default);
}

void describe_ratio(JsonValue& schema, Ratio value, const Range<Ratio>& range, bool with_default) {
  schema["type"] = "number";
  schema["minimum"] = to_double(range.least);
  schema["maximum"] = to_double(range.most);
  if (with_default) { schema["default"] = to_double(value); }
}

void describe_name(JsonValue& schema, const std::vector<std::string>& names, std::size_t now, bool with_default) {
  schema["enum"] = names;
  if (with_default) { schema["default"] = names.at(now); }
}

void describe_text(JsonValue& schema, std::string_view pattern) {
  schema["type"] = "string";
  if (!pattern.empty()) { schema["pattern"] = pattern; }
}

void describe_list(JsonValue& schema, const Range<std::uint32_t>& size) {
  schema["type"] = "array";
  if (size.least > 0) { schema["minItems"] = size.least; }
  if (size.most != UINT32_MAX) { schema["maxItems"] = size.most; }
}

}  // namespace athanor
