#include "tools/compare/difference.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "sim/config/text.hpp"

namespace athanor {

namespace {

constexpr std::array<std::string_view, 5> kNotCompared{"/$schema", "/name", "/cases", "/sweep", "/verify"};

std::string text_at(const nlohmann::json& document, const nlohmann::json::json_pointer& pointer) {
  return document.contains(pointer) ? text_of(document.at(pointer)) : "";
}

}  // namespace

std::vector<Difference> differences(const nlohmann::json& first, const nlohmann::json& second) {
  std::vector<Difference> found;
  for (const nlohmann::json& step : nlohmann::json::diff(first, second)) {
    const auto path = step.at("path").get<std::string>();
    const bool left_out = std::any_of(kNotCompared.begin(), kNotCompared.end(), [&](std::string_view key) {
      return path == key || path.starts_with(std::string(key) + "/");
    });
    if (left_out) { continue; }
    const nlohmann::json::json_pointer pointer(path);
    found.push_back({path, text_at(first, pointer), text_at(second, pointer)});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.pointer < b.pointer; });
  return found;
}

}  // namespace athanor
