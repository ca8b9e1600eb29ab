#include "sim/words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace athanor {

std::vector<std::string_view> words_of_line(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<double> number_of(std::string_view word) {
  double number = 0;
  const auto [end, mistake] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (mistake != std::errc() || end != word.data() + word.size() || !std::isfinite(number)) { return std::nullopt; }
  return number;
}

std::optional<std::int64_t> whole_number_of(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, mistake] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (mistake != std::errc() || end != word.data() + word.size()) { return std::nullopt; }
  return number;
}

}  // namespace athanor
