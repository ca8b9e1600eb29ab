#include "tools/import/fabric/hostlist.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include <fmt/core.h>

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

/// Numbers of a bracket: "08", "09", "10" for "08-10".
struct HostRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 0;  ///< with leading zeros; 0: without
};

/// A name, or many: what stands before each bracket, and what the bracket holds.
struct HostPart {
  struct Piece {
    std::string_view plain;
    std::vector<HostRange> ranges;  ///< empty: the end of the name
  };
  std::vector<Piece> pieces;
  std::size_t count = 1;  ///< names, up to kMostHosts + 1
  std::string fault;
};

/// A host's name is no longer: without a limit a few names of megabytes each would multiply.
constexpr std::size_t kLongestName = 255;
/// Beyond this a number counts no machines.
constexpr std::uint64_t kMostNumber = 999'999'999'999;

std::string read_range(std::string_view text, HostRange& range) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  const auto first = number(low);
  const auto last = number(high);
  if (!first || !last || *last > kMostNumber) {
    return fmt::format("'{}' is neither a number up to {} nor a range such as 0-3", text, kMostNumber);
  }
  if (*last < *first) { return fmt::format("the range '{}' runs backwards", text); }
  if (*last - *first >= kMostHosts) { return fmt::format("'{}' is more than {} names", text, kMostHosts); }
  range = {*first, *last, low.size() > 1 && low[0] == '0' ? low.size() : 0};
  return "";
}

/// One part, which may hold several brackets. Nothing is made yet.
HostPart read_part(std::string_view text) {
  HostPart part;
  if (text.empty()) { part.fault = "a name is missing beside a comma"; }
  if (text.size() > kLongestName * kLongestName) { part.fault = fmt::format("a name of {} letters", text.size()); }
  std::size_t letters = 0;
  while (!text.empty() && part.fault.empty()) {
    const std::size_t open = text.find('[');
    HostPart::Piece piece{text.substr(0, open), {}};
    letters += piece.plain.size();
    if (piece.plain.find(']') != std::string_view::npos) { part.fault = "a ']' stands without its '['"; }
    const std::size_t close = open == std::string_view::npos ? text.size() : text.find(']', open);
    if (close == std::string_view::npos) {
      part.fault = "a '[' is not closed";
      break;
    }
    std::size_t count = open == std::string_view::npos ? 1 : 0;
    std::size_t widest = 0;
    for (const std::string_view range : open == std::string_view::npos
                                            ? std::vector<std::string_view>{}
                                            : parts_of(text.substr(open + 1, close - open - 1))) {
      piece.ranges.emplace_back();
      if (part.fault.empty()) { part.fault = read_range(range, piece.ranges.back()); }
      count = std::min(count + (piece.ranges.back().last - piece.ranges.back().first + 1), kMostHosts + 1);
      widest = std::max(widest, range.size());
    }
    letters += widest;
    part.count = std::min(part.count * count, kMostHosts + 1);
    part.pieces.push_back(std::move(piece));
    text.remove_prefix(std::min(close + 1, text.size()));
  }
  if (part.fault.empty() && letters > kLongestName) { part.fault = fmt::format("a name of {} letters", letters); }
  if (part.fault.empty() && part.count > kMostHosts) {
    part.fault = fmt::format("it is more than {} names", kMostHosts);
  }
  return part;
}

void add_names(const HostPart& part, std::vector<std::string>& names) {
  std::vector<std::string> heads{""};
  for (const HostPart::Piece& piece : part.pieces) {
    std::vector<std::string> joined;
    for (const std::string& head : heads) {
      if (piece.ranges.empty()) { joined.push_back(head + std::string(piece.plain)); }
      for (const HostRange& range : piece.ranges) {
        for (std::uint64_t n = range.first; n <= range.last; ++n) {
          joined.push_back(fmt::format("{}{}{:0{}}", head, piece.plain, n, range.width));
        }
      }
    }
    heads = std::move(joined);
  }
  names.insert(names.end(), std::make_move_iterator(heads.begin()), std::make_move_iterator(heads.end()));
}

}  // namespace

std::size_t hosts_in(std::string_view text) {
  std::size_t count = 0;
  for (const std::string_view each : parts_of(text)) {
    const HostPart part = read_part(each);
    count = std::min(count + (part.count > kMostHosts || part.fault.empty() ? part.count : 0), kMostHosts + 1);
  }
  return count;
}

Hostlist hostlist(std::string_view text) {
  Hostlist list;
  std::vector<HostPart> parts;
  std::size_t count = 0;
  for (const std::string_view each : parts_of(text)) {
    parts.push_back(read_part(each));
    list.fault = parts.back().fault;
    count += parts.back().count;
    if (list.fault.empty() && count > kMostHosts) { list.fault = fmt::format("it is more than {} names", kMostHosts); }
    if (!list.fault.empty()) { return list; }
  }
  for (const HostPart& part : parts) { add_names(part, list.names); }
  return list;
}

}  // namespace athanor
