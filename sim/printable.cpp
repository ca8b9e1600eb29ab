#include "sim/printable.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/core.h>

namespace athanor {

namespace {

/// One character of UTF-8; bytes: 0 where it is none.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

/// How many bytes a character has that begins so; 0: none begins so.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) { return 1; }
  if (first >= 0xC2 && first < 0xE0) { return 2; }
  if (first >= 0xE0 && first < 0xF0) { return 3; }
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

/// The first character of a text that is not empty. Spellings that are longer than needed, halves of surrogates and
/// what is beyond Unicode are none.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const std::size_t length = length_of(byte(0));
  if (length == 0 || length > text.size()) { return {}; }
  std::uint32_t code = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) { return {}; }
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= kLeast[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return valid ? Character{code, length} : Character{};
}

/// C0, DEL and C1; ends of lines and paragraphs; marks, embeddings, overrides and isolates of bidirectional text.
bool is_control(std::uint32_t code) {
  const bool turns = code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || turns;
}

void append_escaped(std::string& text, std::uint32_t code) {
  switch (code) {
    case '\n': text += "\\n"; return;
    case '\r': text += "\\r"; return;
    case '\t': text += "\\t"; return;
    default: fmt::format_to(std::back_inserter(text), "\\u{:04x}", code);
  }
}

std::string escaped(std::string_view text, bool lines_stay) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character found = first_of(text);
    const std::size_t bytes = std::max<std::size_t>(found.bytes, 1);
    if (found.bytes == 0) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (!is_control(found.code) || (lines_stay && (found.code == '\n' || found.code == '\t'))) {
      result += text.substr(0, bytes);
    } else {
      append_escaped(result, found.code);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, false); }

std::string printable_lines(std::string_view text) { return escaped(text, true); }

std::string printable_message(std::string_view text) {
  constexpr std::string_view kNext = "\n  ";
  std::string shown;
  while (true) {
    const std::size_t end = text.find(kNext);
    shown += printable(text.substr(0, end));
    if (end == std::string_view::npos) { return shown; }
    shown += kNext;
    text.remove_prefix(end + kNext.size());
  }
}

}  // namespace athanor
