#include "sim/words.hpp"

#include <algorithm>
#include <cctype>
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

/// By the last star that may take one character more.
bool equal_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') { ++p; }
  return p == pattern.size();
}

std::string enumeration(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
    text += before + words[i];
  }
  return text;
}

}  // namespace athanor
