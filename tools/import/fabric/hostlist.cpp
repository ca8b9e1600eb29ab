#include "tools/import/fabric/hostlist.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace athanor {

namespace {

/// The parts between commas that stand in no bracket.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) { depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0; }
    if (i < text.size() && (text[i] != ',' || depth > 0)) { continue; }
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) { return std::nullopt; }
  return value;
}

/// Appends "08", "09", "10" for "08-10".
std::string add_range(std::string_view range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
  const auto first = number(low);
  const auto last = number(high);
  if (!first || !last) { return fmt::format("'{}' is neither a number nor a range such as 0-3", range); }
  if (*last < *first) { return fmt::format("the range '{}' runs backwards", range); }
  if (*last - *first >= kMostHosts) { return fmt::format("'{}' is more than {} names", range, kMostHosts); }
  for (std::uint64_t n = *first; n <= *last; ++n) {
    numbers.push_back(low.size() > 1 && low[0] == '0' ? fmt::format("{:0{}}", n, low.size()) : fmt::format("{}", n));
  }
  return "";
}

std::string multiply(std::vector<std::string>& heads, const std::vector<std::string>& tails) {
  if (heads.size() * tails.size() > kMostHosts) { return fmt::format("it is more than {} names", kMostHosts); }
  std::vector<std::string> joined;
  joined.reserve(heads.size() * tails.size());
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) { joined.push_back(head + tail); }
  }
  heads = std::move(joined);
  return "";
}

/// One part, which may hold several brackets.
std::string expand(std::string_view part, std::vector<std::string>& names) {
  if (part.empty()) { return "a name is missing beside a comma"; }
  std::vector<std::string> heads{""};
  while (!part.empty()) {
    const std::size_t open = part.find('[');
    const std::string_view plain = part.substr(0, open);
    if (plain.find(']') != std::string_view::npos) { return "a ']' stands without its '['"; }
    for (std::string& head : heads) { head += plain; }
    if (open == std::string_view::npos) { break; }
    const std::size_t close = part.find(']', open);
    if (close == std::string_view::npos) { return "a '[' is not closed"; }
    std::vector<std::string> numbers;
    for (const std::string_view range : parts_of(part.substr(open + 1, close - open - 1))) {
      if (std::string fault = add_range(range, numbers); !fault.empty()) { return fault; }
    }
    if (std::string fault = multiply(heads, numbers); !fault.empty()) { return fault; }
    part.remove_prefix(close + 1);
  }
  names.insert(names.end(), heads.begin(), heads.end());
  return names.size() > kMostHosts ? fmt::format("it is more than {} names", kMostHosts) : "";
}

}  // namespace

Hostlist hostlist(std::string_view text) {
  Hostlist list;
  for (const std::string_view part : parts_of(text)) {
    list.fault = expand(part, list.names);
    if (list.fault.empty()) { continue; }
    list.names.clear();
    break;
  }
  return list;
}

}  // namespace athanor
