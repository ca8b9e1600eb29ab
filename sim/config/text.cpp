#include "sim/config/text.hpp"

#include <nlohmann/json.hpp>

#include "sim/config/syntax.hpp"

namespace athanor {

namespace {

template <class Json>
std::string dumped(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string text_of(const nlohmann::json& value, int indent) { return dumped(value, indent); }
std::string text_of(const nlohmann::ordered_json& value, int indent) { return dumped(value, indent); }

nlohmann::json json_or_discarded(std::string_view text) {
  if (too_deep_at(text) < text.size()) { return nlohmann::json::value_t::discarded; }
  return nlohmann::json::parse(text, nullptr, false);
}

nlohmann::ordered_json ordered_json_or_discarded(std::string_view text) {
  if (too_deep_at(text) < text.size()) { return nlohmann::ordered_json::value_t::discarded; }
  return nlohmann::ordered_json::parse(text, nullptr, false, true);
}

}  // namespace athanor
