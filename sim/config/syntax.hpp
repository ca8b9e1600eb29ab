#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace athanor {

/// Parses JSON with // and /* */ comments. Throws ScenarioError with line and column: one "syntax" problem, one
/// "too-deep" where more than 100 objects and lists are nested, one "too-large" where there are more than 16 million
/// values, or all keys that stand twice in one object ("duplicate-key").
nlohmann::json parse_json(const std::string& text, const std::string& file);

/// Where the bracket stands that opens more objects and lists within each other than are read; the text's size: none
/// does. Of text that is no JSON it says something, and ends.
std::size_t too_deep_at(std::string_view text);

}  // namespace athanor
