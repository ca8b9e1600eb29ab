#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace athanor {

/// The words of a line, without blanks.
std::vector<std::string_view> words_of_line(std::string_view line);
/// The whole word as a number; none where it is none.
std::optional<double> number_of(std::string_view word);
std::optional<std::int64_t> whole_number_of(std::string_view word);

/// Whether two words differ in the case of letters at most.
bool equal_but_case(std::string_view a, std::string_view b);

/// Whether all of `text` is as `pattern` says: '*' stands for any characters, '?' for one.
bool matches_pattern(std::string_view pattern, std::string_view text);

/// The items, strings or whole numbers, with `separator` between.
template <class Items>
std::string joined(const Items& items, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) { text += separator; }
    first = false;
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(item)>>) {
      text += std::to_string(item);
    } else {
      text += std::string_view(item);
    }
  }
  return text;
}

/// "a", "a and b", "a, b and c".
std::string enumeration(const std::vector<std::string>& words);

}  // namespace athanor
