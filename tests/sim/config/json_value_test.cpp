#include "sim/config/json_value.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace athanor;

namespace {

/// "-1.5e+20" as "-0.0e+00".
std::string without_digits(std::string text) {
  for (char& each : text) { each = each >= '0' && each <= '9' ? '0' : each; }
  return text;
}

}  // namespace

TEST_CASE("keys stay in the order in which they were put, and a key stands once") {
  JsonValue value = {{"b", 1}, {"a", "x"}};
  value["c"] = std::vector<double>{0.5, 2};
  value["b"] = true;
  CHECK(text_of(value) == R"({"b":true,"a":"x","c":[0.5,2.0]})");
  value.erase("a");
  value.update({{"d", nullptr}, {"b", JsonValue::object()}});
  CHECK(text_of(value) == R"({"b":{},"c":[0.5,2.0],"d":null})");
  CHECK(value.contains("d"));
  CHECK_FALSE(value.contains("a"));
}

TEST_CASE("an indented text has a value a line, and what is empty in one") {
  const JsonValue value = {{"list", std::vector<int>{1, 2}}, {"empty", JsonValue::list()}};
  CHECK(text_of(value, 2) == "{\n  \"list\": [\n    1,\n    2\n  ],\n  \"empty\": []\n}");
}

TEST_CASE("an optional that holds nothing is null") {
  CHECK(JsonValue(std::optional<int>()).is_null());
  CHECK(JsonValue(std::optional<int>(3)) == JsonValue(3));
}

TEST_CASE("numbers of all magnitudes read back to the same bits, and look as another library writes them") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double value = i < 2'000 ? static_cast<double>(static_cast<std::int64_t>(random() % 1'000'000)) / 1000
                                   : std::bit_cast<double>(random());
    if (!std::isfinite(value)) { continue; }
    CAPTURE(value);
    const std::string text = text_of(JsonValue(value));
    CHECK(std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)) == std::bit_cast<std::uint64_t>(value));
    const std::string other = nlohmann::json(value).dump();
    CHECK(text.size() <= other.size());  // the other one is not always shortest, nor nearest
    if (text.size() == other.size()) { CHECK(without_digits(text) == without_digits(other)); }
  }
  for (const double value : {0.0, -0.0, 1.0, 1e15, 1e16, 123456789012345.0, 1e-4, 1e-5, 0.001, 5e-324, 1.7e308}) {
    CHECK(text_of(JsonValue(value)) == nlohmann::json(value).dump());
  }
}

TEST_CASE("what JSON has no number for is null") {
  CHECK(text_of(JsonValue(std::numeric_limits<double>::infinity())) == "null");
  CHECK(text_of(JsonValue(std::numeric_limits<double>::quiet_NaN())) == "null");
}

TEST_CASE("whole numbers of 64 bits are written in full") {
  CHECK(text_of(JsonValue(INT64_MIN)) == "-9223372036854775808");
  CHECK(text_of(JsonValue(UINT64_MAX)) == "18446744073709551615");
}

TEST_CASE("strings are escaped as JSON asks, and what is no UTF-8 is replaced") {
  std::string controls;
  for (char c = 0; c < 0x20; ++c) { controls += c; }
  for (const std::string& text :
       {controls, std::string("\"\\/"), std::string("\x7f"), std::string("\u00fc \u20ac \U0001F600")}) {
    CHECK(text_of(JsonValue(text)) == nlohmann::json(text).dump());
  }
  CHECK(text_of(JsonValue(std::string("a\xff") + "b")) == "\"a\uFFFDb\"");
  CHECK(text_of(JsonValue("\xed\xa0\x80")).find('\xed') == std::string::npos);  // half of a surrogate pair
}

TEST_CASE("random bytes are always valid JSON") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes;
    for (std::uint64_t n = random() % 12; n > 0; --n) { bytes += static_cast<char>(random() % 256); }
    CHECK(nlohmann::json::accept(text_of(JsonValue(bytes))));
  }
}

TEST_CASE("a text reads back to the value that was written") {
  const JsonValue value = {{"a", JsonValue::List{1, -2, 0.25, "x", nullptr, false}}, {"b", {{"c", UINT64_MAX}}}};
  CHECK(json_value_of(text_of(value)).value() == value);
  CHECK(json_value_of(text_of(value, 3)).value() == value);
  CHECK_FALSE(json_value_of("{\"a\":").has_value());
  CHECK_FALSE(json_value_of(std::string(100'000, '[')).has_value());
}
