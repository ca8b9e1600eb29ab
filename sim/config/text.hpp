#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// Printing and strict parsing, compiled once here instead of in every file that does it.

namespace athanor {

/// The value as JSON: in one line, or with lines indented by `indent` blanks a level where it is not negative. What
/// is no UTF-8 in strings (names in files that others have written) is replaced by U+FFFD.
std::string text_of(const nlohmann::json& value, int indent = -1);
std::string text_of(const nlohmann::ordered_json& value, int indent = -1);

/// Strict JSON, without comments; nothing is said about what is wrong: a discarded value (`is_discarded()`) where
/// `text` is not JSON, or nested more deeply than any value of a scenario. Files of users go through `parse_json`.
nlohmann::json json_or_discarded(std::string_view text);
/// The same in the order of the text, comments allowed: of what has been read as a document already.
nlohmann::ordered_json ordered_json_or_discarded(std::string_view text);

}  // namespace athanor
