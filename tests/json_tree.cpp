#include "tests/json_tree.hpp"

#include <nlohmann/json.hpp>

#include "sim/config/json_value.hpp"

namespace athanor {

nlohmann::json tree_of(const JsonValue& value) { return json_or_discarded(text_of(value)); }

std::string text_of(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string text_of(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json json_or_discarded(std::string_view text) { return nlohmann::json::parse(text, nullptr, false); }

}  // namespace athanor
