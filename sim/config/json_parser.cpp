#include <nlohmann/json.hpp>

#include "sim/config/json_value.hpp"
#include "sim/config/text.hpp"

namespace athanor {

namespace {

using nlohmann::ordered_json;

JsonValue converted(const ordered_json& json) {
  switch (json.type()) {
    case ordered_json::value_t::boolean: return json.get<bool>();
    case ordered_json::value_t::number_integer: return json.get<std::int64_t>();
    case ordered_json::value_t::number_unsigned: return json.get<std::uint64_t>();
    case ordered_json::value_t::number_float: return json.get<double>();
    case ordered_json::value_t::string: return json.get_ref<const std::string&>();
    case ordered_json::value_t::array: {
      JsonValue::List list;
      for (const ordered_json& each : json) { list.push_back(converted(each)); }
      return list;
    }
    case ordered_json::value_t::object: {
      JsonValue::Object object;
      for (const auto& [key, value] : json.items()) { object.emplace_back(key, converted(value)); }
      return object;
    }
    case ordered_json::value_t::null:
    case ordered_json::value_t::binary:
    case ordered_json::value_t::discarded: break;
  }
  return {};
}

}  // namespace

std::optional<JsonValue> json_value_of(std::string_view text) {
  const ordered_json json = ordered_json_or_discarded(text);
  if (json.is_discarded()) { return std::nullopt; }
  return converted(json);
}

}  // namespace athanor
