#include <algorithm>
#include <array>

#include "tests/fuzz/mutation.hpp"

namespace athanor::fuzz {

namespace {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The line, with its end, in which a random byte stands.
Span line_in(const std::string& text, RandomStream& random) {
  if (text.empty()) { return {}; }
  const std::size_t at = random.below(text.size());
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t after = text.find('\n', at);
  return {before == std::string::npos ? 0 : before + 1, after == std::string::npos ? text.size() : after + 1};
}

/// A word: what stands between blanks and signs.
Span word_in(const std::string& text, RandomStream& random) {
  constexpr std::string_view kBetween = " \t\n\r\",;:=<>[]{}()/";
  if (text.empty()) { return {}; }
  const std::size_t at = random.below(text.size());
  const std::size_t begin = text.find_first_not_of(kBetween, at);
  if (begin == std::string::npos) { return {at, at}; }
  return {begin, std::min(text.find_first_of(kBetween, begin), text.size())};
}

std::string piece(const std::string& text, Span span) { return text.substr(span.begin, span.end - span.begin); }

void put_bytes(std::string& content, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width && at + i < content.size(); ++i) {
    content[at + i] = static_cast<char>(value >> (8 * i) & 0xffU);
  }
}

/// As protobuf writes numbers.
std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 128; value >>= 7U) { text += static_cast<char>(value | 128U); }
  return text + static_cast<char>(value);
}

}  // namespace

void change_text(std::string& content, std::span<const Seed> others, RandomStream& random) {
  const std::string& other = others[random.below(others.size())].content;
  const Span line = line_in(content, random);
  const Span word = word_in(content, random);
  switch (random.below(12)) {
    case 0: content.erase(line.begin, line.end - line.begin); break;
    case 1: content.insert(line.begin, piece(content, line)); break;
    case 2: content.insert(line.begin, piece(other, line_in(other, random))); break;
    case 3: content.insert(line_in(content, random).begin, piece(content, line)); break;
    case 4: content.resize(random.below(content.size() + 1)); break;
    case 5: content.replace(word.begin, word.end - word.begin, piece(other, word_in(other, random))); break;
    case 6: change_bytes(content, others, random); break;
    case 7: content.replace(word.begin, word.end - word.begin, extreme_word(random)); break;
    default: content.replace(word.begin, word.end - word.begin, changed_word(piece(content, word), random));
  }
}

void change_bytes(std::string& content, std::span<const Seed> others, RandomStream& random) {
  constexpr std::array<std::uint64_t, 10> kLimits{0,      1,          0x7f,       0xff,      0x7fff,
                                                  0xffff, 0x7fffffff, 0xffffffff, 1U << 20U, UINT64_MAX};
  if (content.empty()) { content = "0"; }
  const std::string& other = others[random.below(others.size())].content;
  const std::size_t at = random.below(content.size());
  const std::size_t length = 1 + random.below(std::min<std::size_t>(content.size() - at, 64));
  const std::uint64_t limit = kLimits[random.below(kLimits.size())];
  switch (random.below(9)) {
    case 0: content[at] = static_cast<char>(static_cast<unsigned char>(content[at]) ^ (1U << random.below(8))); break;
    case 1: content[at] = static_cast<char>(random.below(256)); break;
    case 2: content.erase(at, length); break;
    case 3: content.insert(at, content.substr(at, length)); break;
    case 4: content.resize(at); break;
    case 5: put_bytes(content, at, limit, std::size_t{1} << random.below(4)); break;
    case 6: content.insert(at, varint(limit)); break;
    case 7: content.replace(at, 1, varint(limit)); break;
    default:
      if (!other.empty()) {
        const std::size_t from = random.below(other.size());
        content.insert(at, other.substr(from, 1 + random.below(256)));
      }
  }
}

std::string mutated(const Seed& seed, std::span<const Seed> others, Form form, unsigned changes, RandomStream& random) {
  std::string content = seed.content;
  if (form == Form::json) {
    change_json(content, others, changes, random);
    return content;
  }
  for (unsigned i = 0; i < changes; ++i) {
    (form == Form::text ? &change_text : &change_bytes)(content, others, random);
  }
  return content;
}

}  // namespace athanor::fuzz
