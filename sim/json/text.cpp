#include "sim/json/text.hpp"

#include <nlohmann/json.hpp>

namespace athanor {

std::string text_of(const nlohmann::json& value, int indent) { return value.dump(indent); }
std::string text_of(const nlohmann::ordered_json& value, int indent) { return value.dump(indent); }

nlohmann::json json_or_discarded(std::string_view text) { return nlohmann::json::parse(text, nullptr, false); }

}  // namespace athanor
