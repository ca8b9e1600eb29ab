#include "tests/json_text.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "sim/file.hpp"

namespace athanor {

nlohmann::json json_from(const std::string& text) {
  nlohmann::json value = json_or_discarded(text);
  if (value.is_discarded()) { throw std::invalid_argument("not JSON: " + text); }
  return value;
}

nlohmann::json json_in_file(const std::string& path) { return json_from(read_text_file(path)); }

}  // namespace athanor

doctest::String doctest::StringMaker<nlohmann::json>::convert(const nlohmann::json& value) {
  return athanor::text_of(value).c_str();
}
