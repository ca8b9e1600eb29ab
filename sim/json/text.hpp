#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// Printing and strict parsing, compiled once here instead of in every file that does it.

namespace athanor {

/// The value as JSON: in one line, or with lines indented by `indent` blanks a level where it is not negative. Throws
/// nlohmann::json::type_error for strings that are not UTF-8.
std::string text_of(const nlohmann::json& value, int indent = -1);
std::string text_of(const nlohmann::ordered_json& value, int indent = -1);

/// Strict JSON, without comments; nothing is said about what is wrong: a discarded value (`is_discarded()`) where
/// `text` is not JSON. Files of users go through `parse_json`.
nlohmann::json json_or_discarded(std::string_view text);

}  // namespace athanor
