#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/config/json_value.hpp"
#include "sim/config/limits.hpp"

namespace athanor {

// The JSON Schema (draft-07) of each kind of value: what FieldValue writes in the place of reading. Each adds to
// `schema` the type, the range as far as a schema can express it, and, when asked to, `value` as the default.

void describe_integer(nlohmann::json& schema, std::int64_t value, const Range<std::int64_t>& range, bool with_default);
void describe_boolean(nlohmann::json& schema, bool value, bool with_default);
void describe_string(nlohmann::json& schema, const std::string& value, bool with_default);
void describe_time(nlohmann::json& schema, Time value, const Range<Time>& range, bool with_default);
void describe_bytes(nlohmann::json& schema, Bytes value, const Range<Bytes>& range, bool with_default);
void describe_bandwidth(nlohmann::json& schema, Bandwidth value, const Range<Bandwidth>& range, bool with_default);
void describe_ratio(nlohmann::json& schema, Ratio value, const Range<Ratio>& range, bool with_default);
void describe_name(nlohmann::json& schema, const std::vector<std::string>& names, std::size_t now, bool with_default);
void describe_text(nlohmann::json& schema, std::string_view pattern);
void describe_list(nlohmann::json& schema, const Range<std::uint32_t>& size);

/// What was read, as the user wrote it.
JsonValue as_it_stands(const nlohmann::json& value);

}  // namespace athanor
