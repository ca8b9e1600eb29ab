#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "sim/config/json_value.hpp"

namespace athanor {

namespace {

/// Decimal digits of a number and the place of its point: 0.DIGITS x 10^point.
struct Decimal {
  std::array<char, 24> digits{};
  int count = 0;
  int point = 0;
};

/// The fewest digits that read back to the same number. Requires one that is finite and above 0.
Decimal shortest(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
  const char* exponent = static_cast<const char*>(std::memchr(text.data(), 'e', text.size()));
  Decimal decimal;
  for (const char* at = text.data(); at != exponent; ++at) {
    if (*at != '.') { decimal.digits.at(static_cast<std::size_t>(decimal.count++)) = *at; }
  }
  int power = 0;
  std::from_chars(exponent[1] == '+' ? exponent + 2 : exponent + 1, end, power);
  decimal.point = power + 1;
  return decimal;
}

/// "1.5", "2.0", "0.001", "1e-05", "1.2e+20".
void append_number(double value, std::string& text) {
  if (!std::isfinite(value)) {
    text += "null";
    return;
  }
  if (std::signbit(value)) { text += '-'; }
  if (value == 0) {
    text += "0.0";
    return;
  }
  constexpr int kMostWhole = 15;    // digits before the point, beyond which there is an exponent
  constexpr int kMostLeading = -4;  // zeros behind the point, likewise
  const Decimal decimal = shortest(std::abs(value));
  const std::string_view digits(decimal.digits.data(), static_cast<std::size_t>(decimal.count));
  const int point = decimal.point;
  if (decimal.count <= point && point <= kMostWhole) {
    text.append(digits).append(static_cast<std::size_t>(point - decimal.count), '0').append(".0");
  } else if (0 < point && point <= kMostWhole) {
    text.append(digits.substr(0, static_cast<std::size_t>(point))).append(".");
    text.append(digits.substr(static_cast<std::size_t>(point)));
  } else if (kMostLeading < point && point <= 0) {
    text.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
  } else {
    text.append(digits.substr(0, 1));
    if (digits.size() > 1) { text.append(".").append(digits.substr(1)); }
    const int power = point - 1;
    text.append(power < 0 ? "e-" : "e+")
        .append(std::abs(power) < 10 ? "0" : "")
        .append(std::to_string(std::abs(power)));
  }
}

/// How many bytes the well-formed UTF-8 sequence at the beginning has; 0: there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) { return 1; }
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first < 0xF5                  ? 4
                                                             : 0;
  if (first < 0xC2 || length == 0 || text.size() < length) { return 0; }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) { return 0; }
  }
  // Overlong forms, surrogates, and what lies above U+10FFFF.
  const bool bad = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                   (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return bad ? 0 : length;
}

void append_control(char character, std::string& text) {
  constexpr std::string_view kHexadecimal = "0123456789abcdef";
  switch (character) {
    case '\b': text += "\\b"; return;
    case '\f': text += "\\f"; return;
    case '\n': text += "\\n"; return;
    case '\r': text += "\\r"; return;
    case '\t': text += "\\t"; return;
    default: break;
  }
  const auto code = static_cast<unsigned char>(character);
  text += "\\u00";
  text += kHexadecimal[code / 16U];
  text += kHexadecimal[code % 16U];
}

void append_string(std::string_view value, std::string& text) {
  text += '"';
  for (std::size_t i = 0; i < value.size();) {
    const std::size_t length = sequence_length(value.substr(i));
    if (length == 0) {
      text += "\xEF\xBF\xBD";
    } else if (value[i] == '"' || value[i] == '\\') {
      text.append("\\").append(1, value[i]);
    } else if (static_cast<unsigned char>(value[i]) < 0x20) {
      append_control(value[i], text);
    } else {
      text.append(value.substr(i, length));
    }
    i += std::max<std::size_t>(length, 1);
  }
  text += '"';
}

}  // namespace

/// Writes one value and what it holds.
class JsonWriter {
 public:
  explicit JsonWriter(int indent) : indent_(indent) {}

  void write(const JsonValue& value) {
    std::visit([&](const auto& held) { append(held); }, value.value_);
  }
  std::string take() { return std::move(text_); }

 private:
  void append(std::monostate /*null*/) { text_ += "null"; }
  void append(bool value) { text_ += value ? "true" : "false"; }
  void append(std::int64_t value) { text_ += std::to_string(value); }
  void append(std::uint64_t value) { text_ += std::to_string(value); }
  void append(double value) { append_number(value, text_); }
  void append(const std::string& value) { append_string(value, text_); }
  void append(const JsonValue::List& list) {
    enclose('[', ']', list, [&](const JsonValue& each) { write(each); });
  }
  void append(const JsonValue::Object& object) {
    enclose('{', '}', object, [&](const JsonValue::Member& each) {
      append_string(each.first, text_);
      text_ += indent_ < 0 ? ":" : ": ";
      write(each.second);
    });
  }

  template <class Parts, class WritePart>
  void enclose(char open, char close, const Parts& parts, WritePart write_part) {
    text_ += open;
    ++level_;
    for (const auto& part : parts) {
      if (&part != &parts.front()) { text_ += ','; }
      new_line();
      write_part(part);
    }
    --level_;
    if (!parts.empty()) { new_line(); }
    text_ += close;
  }

  void new_line() {
    if (indent_ < 0) { return; }
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_) * level_, ' ');
  }

  int indent_;
  std::size_t level_ = 0;
  std::string text_;
};

std::string text_of(const JsonValue& value, int indent) {
  JsonWriter writer(indent);
  writer.write(value);
  return writer.take();
}

}  // namespace athanor
