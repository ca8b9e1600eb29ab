#include "models/experiments/scenario/access_file.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::string_view kBetween = " \t\r\n,;";

class NumberReader {
 public:
  NumberReader(std::string_view text, const AccessConfig& access) : text_(text), access_(access) {}

  /// None: that were all.
  std::optional<std::uint64_t> next() {
    const std::size_t begin = text_.find_first_not_of(kBetween, at_);
    if (begin == std::string_view::npos) { return std::nullopt; }
    at_ = std::min(text_.size(), text_.find_first_of(kBetween, begin));
    const std::string_view word = text_.substr(begin, at_ - begin);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) {
      refuse("no-number", begin, fmt::format("'{}' is no whole number", word), "remove heads and what is no number");
    }
    begin_ = begin;
    return number;
  }

  [[noreturn]] void refuse(const char* code, std::string message, std::string hint) const {
    refuse(code, begin_, std::move(message), std::move(hint));
  }

 private:
  [[noreturn]] void refuse(const char* code, std::size_t at, std::string message, std::string hint) const {
    const auto line = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    throw ScenarioError({code, fmt::format("{}:{}: {}", access_.file, line, message), access_.place, std::move(hint)});
  }

  std::string_view text_;
  const AccessConfig& access_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
};

}  // namespace

std::vector<std::uint64_t> row_counts(const std::string& text, const AccessConfig& access, std::uint64_t rows) {
  NumberReader reader(text, access);
  std::vector<std::uint64_t> counts;
  std::uint64_t all = 0;
  while (const auto number = reader.next()) {
    if (access.law == AccessConfig::Law::counts) {
      counts.push_back(*number);
      all += *number;
      if (counts.size() > rows) {
        reader.refuse("too-many-rows", fmt::format("there are more counts than the {} rows of the table", rows),
                      "give the table as many rows");
      }
      continue;
    }
    if (*number >= rows) {
      reader.refuse("unknown-row", fmt::format("row {} is none of the {} of the table", *number, rows),
                    "rows are counted from 0");
    }
    if (*number >= counts.size()) { counts.resize(*number + 1); }
    ++counts[*number];
    ++all;
  }
  if (all == 0) {
    throw ScenarioError({"no-lookups", fmt::format("{} names no look-up", access.file), access.place,
                         "write a number above 0 at least"});
  }
  return counts;
}

}  // namespace athanor
