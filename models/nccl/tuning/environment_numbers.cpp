#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "models/nccl/tuning/environment_reader.hpp"

namespace athanor {

namespace {

using Effect = NcclNote::Effect;

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// What strtoll with base 0 makes of a text: the number, and what it leaves over.
struct Read {
  std::int64_t number = 0;
  bool in_range = true;
  bool has_digits = false;
  int base = 10;
  std::string_view rest;
};

int base_of(std::string_view& digits) {
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') &&
      std::isxdigit(static_cast<unsigned char>(digits[2])) != 0) {
    digits.remove_prefix(2);
    return 16;
  }
  return digits.size() > 1 && digits[0] == '0' ? 8 : 10;
}

Read read_number(std::string_view text) {
  Read read;
  while (!text.empty() && is_blank(text.front())) { text.remove_prefix(1); }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) { text.remove_prefix(1); }
  read.base = base_of(text);
  std::uint64_t magnitude = 0;
  const auto [end, mistake] = std::from_chars(text.data(), text.data() + text.size(), magnitude, read.base);
  read.has_digits = end != text.data();
  read.rest = text.substr(static_cast<std::size_t>(end - text.data()));
  read.in_range = mistake != std::errc::result_out_of_range && magnitude <= static_cast<std::uint64_t>(INT64_MAX);
  if (read.in_range) {
    read.number = negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  }
  return read;
}

}  // namespace

std::optional<std::int64_t> nccl_number(const NcclVariable& variable) {
  if (variable.text.empty()) { return {}; }
  const Read read = read_number(variable.text);
  if (!read.in_range) {
    variable.note(Effect::ignored, fmt::format("'{}' does not fit in 64 bits; NCCL uses its default", variable.text));
    return {};
  }
  if (!read.has_digits || !read.rest.empty()) {
    variable.note(Effect::changed, fmt::format("'{}' is read as {}, without units or fractions; write the whole number",
                                               variable.text, read.number));
  } else if (read.base == 8) {
    variable.note(Effect::changed,
                  fmt::format("'{}' is read as {}: a number that begins with 0 is octal", variable.text, read.number));
  }
  return read.number;
}

std::optional<NcclPath> nccl_level(const NcclVariable& variable) {
  if (variable.text.empty()) { return {}; }
  for (int i = 0; i <= static_cast<int>(NcclPath::sys); ++i) {
    if (name(static_cast<NcclPath>(i)) == variable.text) { return static_cast<NcclPath>(i); }
  }
  constexpr std::array kOldLevels{NcclPath::loc, NcclPath::pix, NcclPath::pxb, NcclPath::phb, NcclPath::sys};
  const Read read = read_number(variable.text);
  const std::int64_t level = read.in_range ? read.number : 0;
  const NcclPath path = kOldLevels.at(static_cast<std::size_t>(std::clamp<std::int64_t>(level, 0, 4)));
  if (!read.has_digits || !read.rest.empty() || level < 0) {
    variable.note(Effect::changed,
                  fmt::format("'{}' is no level and is read as the number 0, LOC: never; levels are written LOC, NVL, "
                              "PIX, PXB, PHB and SYS",
                              variable.text));
  }
  return path;
}

}  // namespace athanor
