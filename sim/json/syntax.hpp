#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace athanor {

/// Parses JSON with // and /* */ comments. Throws ScenarioError with line and column: one "syntax" problem, one
/// "too-deep" where more than 100 objects and lists are nested, or all keys that stand twice in one object
/// ("duplicate-key").
nlohmann::json parse_json(const std::string& text, const std::string& file);

}  // namespace athanor
