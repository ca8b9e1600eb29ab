#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// JSON in the form in which tests look at it and change it.

namespace athanor {

class JsonValue;
nlohmann::json tree_of(const JsonValue& value);

/// In one line, or with lines indented by `indent` blanks a level where it is not negative; what is no UTF-8 is
/// replaced.
std::string text_of(const nlohmann::json& value, int indent = -1);
std::string text_of(const nlohmann::ordered_json& value, int indent = -1);

/// Strict JSON, without comments; a discarded value (`is_discarded()`) where it is none.
nlohmann::json json_or_discarded(std::string_view text);

}  // namespace athanor
