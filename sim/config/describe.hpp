#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/json_value.hpp"
#include "sim/config/limits.hpp"

namespace athanor {

// The JSON Schema (draft-07) of each kind of value: what FieldValue writes in the place of reading. Each adds to
// `schema` the type, the range as far as a schema can express it, and, when asked to, `value` as the default.

void describe_integer(JsonValue& schema, std::int64_t value, const Range<std::int64_t>& range, bool with_default);
void describe_boolean(JsonValue& schema, bool value, bool with_default);
void describe_string(JsonValue& schema, const std::string& value, bool with_default);
void describe_time(JsonValue& schema, Time value, const Range<Time>& range, bool with_default);
void describe_wall_time(JsonValue& schema, WallTime value, const Range<WallTime>& range, bool with_default);
void describe_bytes(JsonValue& schema, Bytes value, const Range<Bytes>& range, bool with_default);
void describe_bandwidth(JsonValue& schema, Bandwidth value, const Range<Bandwidth>& range, bool with_default);
void describe_ratio(JsonValue& schema, Ratio value, const Range<Ratio>& range, bool with_default);
void describe_name(JsonValue& schema, const std::vector<std::string>& names, std::size_t now, bool with_default);
void describe_text(JsonValue& schema, std::string_view pattern);
void describe_list(JsonValue& schema, const Range<std::uint32_t>& size);

}  // namespace athanor
