#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "sim/config/json_value.hpp"

namespace athanor {

/// Parses JSON with // and /* */ comments; the keys of each object are put in order. Throws ScenarioError with line and
/// column: one "syntax" problem, one "too-deep" where more than 100 objects and lists are nested, one "too-large" where
/// there are more than 16 million values, or all keys that stand twice in one object ("duplicate-key").
JsonValue parse_json(const std::string& text, const std::string& file);

/// Calls `go_on` for the keys of the root object, in their order, until it returns false or the text is no JSON any
/// more. Returns whether the root is an object.
bool visit_root_keys(std::string_view text, const std::function<bool(std::string_view key)>& go_on);

/// Where the bracket stands that opens more objects and lists within each other than are read; the text's size: none
/// does. Of text that is no JSON it says something, and ends.
std::size_t too_deep_at(std::string_view text);

}  // namespace athanor
