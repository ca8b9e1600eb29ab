#include "sim/parse.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

/// "-1.25e3" is digits 125 and exponent 1. The value is digits x 10^exponent.
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
};

/// A unit's worth in the base unit is numerator / denominator.
struct Unit {
  std::string_view name;
  std::int64_t numerator;
  std::int64_t denominator = 1;
};

constexpr int kMostExponent = 1000;  // beyond this every value is out of range or zero

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits at the front of `text` into `decimal`; false when there is none or they are too many.
bool take_digits(std::string_view& text, Decimal& decimal, bool fraction) {
  const std::string_view before = text;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    decimal.digits = decimal.digits * 10 + (text.front() - '0');
    if (fraction) { --decimal.exponent; }
    constexpr Wide kMost = Wide{1'000'000'000'000'000'000} * 1'000'000'000;
    if (decimal.digits >= kMost) { return false; }
  }
  return text.size() < before.size();
}

/// Takes "e-12" when it is there; "e" without digits stays in the text.
bool take_exponent(std::string_view& text, Decimal& decimal) {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) { return true; }
  std::string_view rest = text.substr(1);
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) { rest.remove_prefix(1); }
  if (rest.empty() || !is_digit(rest.front())) { return true; }
  int power = 0;
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
    power = std::min(kMostExponent, power * 10 + (rest.front() - '0'));
  }
  decimal.exponent += negative ? -power : power;
  text = rest;
  return true;
}

/// Takes a number from the front of `text`, none when it does not begin with one (or has more than 27 digits).
std::optional<Decimal> take_number(std::string_view& text) {
  Decimal decimal;
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) { text.remove_prefix(1); }
  if (!take_digits(text, decimal, false)) { return std::nullopt; }
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (!take_digits(text, decimal, true)) { return std::nullopt; }
  }
  take_exponent(text, decimal);
  while (decimal.digits != 0 && decimal.digits % 10 == 0) {
    decimal.digits /= 10;
    ++decimal.exponent;
  }
  if (negative) { decimal.digits = -decimal.digits; }
  return decimal;
}

enum class Exactness : std::uint8_t { exact, too_fine, too_large };

struct Count {
  std::int64_t value = 0;
  Exactness exactness = Exactness::exact;
};

Count count_of(Decimal decimal, const Unit& unit) {
  if (decimal.digits == 0) { return {}; }
  Wide numerator = 0;
  if (__builtin_mul_overflow(decimal.digits, Wide{unit.numerator}, &numerator)) { return {0, Exactness::too_large}; }
  Wide denominator = unit.denominator;
  for (; decimal.exponent < 0; ++decimal.exponent) {
    if (numerator % 10 == 0) {
      numerator /= 10;
    } else if (__builtin_mul_overflow(denominator, Wide{10}, &denominator)) {
      return {0, Exactness::too_fine};
    }
  }
  for (; decimal.exponent > 0; --decimal.exponent) {
    if (__builtin_mul_overflow(numerator, Wide{10}, &numerator)) { return {0, Exactness::too_large}; }
  }
  if (numerator % denominator != 0) { return {0, Exactness::too_fine}; }
  const Wide value = numerator / denominator;
  if (value > INT64_MAX || value < INT64_MIN) { return {0, Exactness::too_large}; }
  return {static_cast<std::int64_t>(value), Exactness::exact};
}

struct Dimension {
  std::string_view what;     ///< "a time"
  std::string_view example;  ///< "1.5us"
  std::string_view units;    ///< the likely ones, for messages
  std::string_view likely;   ///< the one that a bare number probably means
  std::string_view smallest;
};

Mistake not_a_quantity(std::string_view text, const Dimension& dimension) {
  return {"wrong-type", fmt::format("'{}' is not {}", text, dimension.what),
          fmt::format("write a number and a unit, such as \"{}\"", dimension.example)};
}

Mistake no_such_unit(std::string_view number, std::string_view unit, std::span<const Unit> units,
                     const Dimension& dimension) {
  if (unit.empty()) {
    return {"missing-unit", fmt::format("'{}' has no unit; expected {}", number, dimension.what),
            fmt::format("write \"{}{}\" if that is meant (units: {})", number, dimension.likely, dimension.units)};
  }
  std::vector<std::string> names;
  for (const Unit& known : units) { names.emplace_back(known.name); }
  const std::string per_second = fmt::format("{}/s", unit);
  const bool lacks_second = std::find(names.begin(), names.end(), per_second) != names.end();
  const std::string near = lacks_second ? per_second : nearest(std::string(unit), names);
  std::string hint = fmt::format("units are {}", dimension.units);
  if (!near.empty()) { hint = fmt::format("did you mean \"{}{}\"? ", number, near) + hint; }
  return {"wrong-unit", fmt::format("'{}' is not a unit of {}", unit, dimension.what), hint};
}

Parsed<std::int64_t> parse_quantity(std::string_view text, std::span<const Unit> units, const Dimension& dimension) {
  std::string_view rest = text;
  const std::optional<Decimal> decimal = take_number(rest);
  if (!decimal) { return {std::nullopt, not_a_quantity(text, dimension)}; }
  const std::string_view number = text.substr(0, text.size() - rest.size());
  if (!rest.empty() && rest.front() == ' ') { rest.remove_prefix(1); }
  const auto* unit =
      std::find_if(units.data(), units.data() + units.size(), [&](const Unit& known) { return known.name == rest; });
  if (unit == units.data() + units.size()) { return {std::nullopt, no_such_unit(number, rest, units, dimension)}; }
  const Count count = count_of(*decimal, *unit);
  switch (count.exactness) {
    case Exactness::exact: return {count.value, {}};
    case Exactness::too_fine:
      return {std::nullopt,
              {"out-of-range", fmt::format("'{}' is finer than {}", text, dimension.smallest), "use fewer digits"}};
    case Exactness::too_large:
      return {std::nullopt,
              {"out-of-range", fmt::format("'{}' is more than 64 bits can hold", text), "use a smaller value"}};
  }
  return {};
}

constexpr std::int64_t kKilo = 1'000;
constexpr std::int64_t kMega = kKilo * kKilo;
constexpr std::int64_t kGiga = kMega * kKilo;
constexpr std::int64_t kTera = kGiga * kKilo;
constexpr std::int64_t kKibi = 1'024;
constexpr std::int64_t kMebi = kKibi * kKibi;
constexpr std::int64_t kGibi = kMebi * kKibi;
constexpr std::int64_t kTebi = kGibi * kKibi;

constexpr auto kTimeUnits =
    std::to_array<Unit>({{"ps", 1}, {"ns", kKilo}, {"us", kMega}, {"\u00b5s", kMega}, {"ms", kGiga}, {"s", kTera}});

constexpr auto kWallTimeUnits = std::to_array<Unit>({{"us", 1},
                                                     {"\u00b5s", 1},
                                                     {"ms", kKilo},
                                                     {"s", kMega},
                                                     {"min", 60 * kMega},
                                                     {"h", 3'600 * kMega},
                                                     {"d", 86'400 * kMega},
                                                     {"w", 604'800 * kMega}});

constexpr auto kByteUnits = std::to_array<Unit>({{"B", 1},
                                                 {"kB", kKilo},
                                                 {"KB", kKilo},
                                                 {"MB", kMega},
                                                 {"GB", kGiga},
                                                 {"TB", kTera},
                                                 {"KiB", kKibi},
                                                 {"MiB", kMebi},
                                                 {"GiB", kGibi},
                                                 {"TiB", kTebi}});

constexpr auto kBandwidthUnits = std::to_array<Unit>(
    {{"B/s", 1},           {"kB/s", kKilo},      {"KB/s", kKilo},      {"MB/s", kMega},      {"GB/s", kGiga},
     {"TB/s", kTera},      {"KiB/s", kKibi},     {"MiB/s", kMebi},     {"GiB/s", kGibi},     {"TiB/s", kTebi},
     {"b/s", 1, 8},        {"kb/s", kKilo, 8},   {"Kb/s", kKilo, 8},   {"Mb/s", kMega, 8},   {"Gb/s", kGiga, 8},
     {"Tb/s", kTera, 8},   {"bit/s", 1, 8},      {"kbit/s", kKilo, 8}, {"Kbit/s", kKilo, 8}, {"Mbit/s", kMega, 8},
     {"Gbit/s", kGiga, 8}, {"Tbit/s", kTera, 8}, {"bps", 1, 8},        {"kbps", kKilo, 8},   {"Kbps", kKilo, 8},
     {"Mbps", kMega, 8},   {"Gbps", kGiga, 8},   {"Tbps", kTera, 8}});

template <class T>
Parsed<T> as_quantity(const Parsed<std::int64_t>& parsed) {
  if (!parsed.value) { return {std::nullopt, parsed.mistake}; }
  return {T{*parsed.value}, {}};
}

}  // namespace

Parsed<Time> parse_time(std::string_view text) {
  constexpr Dimension kTime{"a time", "1.5us", "ps, ns, us, ms, s", "us", "a picosecond"};
  return as_quantity<Time>(parse_quantity(text, kTimeUnits, kTime));
}

Parsed<WallTime> parse_wall_time(std::string_view text) {
  constexpr Dimension kTime{"a time", "36h", "us, ms, s, min, h, d, w", "s", "a microsecond"};
  return as_quantity<WallTime>(parse_quantity(text, kWallTimeUnits, kTime));
}

Parsed<Bytes> parse_bytes(std::string_view text) {
  constexpr Dimension kSize{"a size", "256MiB", "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB", "B", "a byte"};
  return as_quantity<Bytes>(parse_quantity(text, kByteUnits, kSize));
}

Parsed<Bandwidth> parse_bandwidth(std::string_view text) {
  constexpr Dimension kRate{"a bandwidth", "400Gb/s", "GB/s (bytes), Gb/s (bits), with k, M, G, T or Ki, Mi, Gi, Ti",
                            "Gb/s", "a byte per second"};
  return as_quantity<Bandwidth>(parse_quantity(text, kBandwidthUnits, kRate));
}

Parsed<Ratio> parse_ratio(std::string_view text) {
  std::string_view rest = text;
  const std::optional<Decimal> decimal = take_number(rest);
  if (!decimal || !rest.empty()) {
    return {std::nullopt, {"wrong-type", fmt::format("'{}' is not a number", text), "write it like 0.95"}};
  }
  Wide numerator = decimal->digits;
  Wide denominator = 1;
  constexpr Wide kMost = 1'000'000'000'000'000'000;
  const int power = decimal->digits == 0 ? 0 : decimal->exponent;
  for (int i = 0; i < power && numerator <= kMost && numerator >= -kMost; ++i) { numerator *= 10; }
  for (int i = 0; i > power && denominator <= kMost; --i) { denominator *= 10; }
  if (numerator > kMost || numerator < -kMost || denominator > kMost) {
    return {std::nullopt, {"out-of-range", fmt::format("'{}' has more than 18 digits", text), "use fewer digits"}};
  }
  return {Ratio{static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)}, {}};
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const std::optional<Decimal> decimal = take_number(text);
  if (!decimal || !text.empty() || decimal->digits < 0) { return std::nullopt; }
  Wide value = decimal->digits;
  if (value != 0 && decimal->exponent < 0) { return std::nullopt; }
  for (int i = 0; value != 0 && i < decimal->exponent; ++i) {
    value *= 10;
    if (value > UINT64_MAX) { return std::nullopt; }
  }
  return value > UINT64_MAX ? std::nullopt : std::optional(static_cast<std::uint64_t>(value));
}

}  // namespace athanor
