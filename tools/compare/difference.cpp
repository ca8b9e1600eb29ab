#include "tools/compare/difference.hpp"

#include <algorithm>
#include <array>

#include "sim/config/locator.hpp"

namespace athanor {

namespace {

constexpr std::array<std::string_view, 5> kNotCompared{"/$schema", "/name", "/cases", "/sweep", "/verify"};

bool is_compared(const std::string& pointer) {
  return std::none_of(kNotCompared.begin(), kNotCompared.end(), [&](std::string_view key) {
    return pointer == key || pointer.starts_with(std::string(key) + "/");
  });
}

/// Adds where two values differ, at and below `pointer`; null: one of them has none there.
void compare(const JsonValue* first, const JsonValue* second, const std::string& pointer,
             std::vector<Difference>& found) {
  if (first != nullptr && second != nullptr && *first == *second) { return; }
  const bool both = first != nullptr && second != nullptr;
  if (both && first->is_object() && second->is_object()) {
    const auto go_down = [&](const JsonValue::Member& member) {
      compare(first->find(member.first), second->find(member.first), pointer + "/" + pointer_token(member.first),
              found);
    };
    for (const JsonValue::Member& member : first->members()) { go_down(member); }
    for (const JsonValue::Member& member : second->members()) {
      if (!first->contains(member.first)) { go_down(member); }
    }
  } else if (both && first->is_list() && second->is_list()) {
    for (std::size_t i = 0; i < std::max(first->size(), second->size()); ++i) {
      const std::string token = std::to_string(i);
      compare(first->child(token), second->child(token), pointer + "/" + token, found);
    }
  } else if (is_compared(pointer)) {
    found.push_back({pointer, first == nullptr ? "" : text_of(*first), second == nullptr ? "" : text_of(*second)});
  }
}

}  // namespace

std::vector<Difference> differences(const JsonValue& first, const JsonValue& second) {
  std::vector<Difference> found;
  compare(&first, &second, "", found);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.pointer < b.pointer; });
  return found;
}

}  // namespace athanor
