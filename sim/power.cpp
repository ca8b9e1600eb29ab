#include "sim/power.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

namespace {

struct PowerUnit {
  std::string_view name;
  std::int64_t milliwatts;
};

constexpr auto kPowerUnits =
    std::to_array<PowerUnit>({{"MW", 1'000'000'000}, {"kW", 1'000'000}, {"W", 1'000}, {"mW", 1}});
constexpr const char* kNames = "mW, W, kW, MW";

Parsed<Power> mistaken(std::string code, std::string message, std::string hint) {
  return {std::nullopt, {std::move(code), std::move(message), std::move(hint)}};
}

}  // namespace

void Milliwatts::overflow() { throw SimulationError("power-overflow", "a power exceeds 9.2e15 watts"); }

Parsed<Power> parse_power(std::string_view text) {
  const std::size_t digits = text.find_last_of("0123456789") + 1;  // 0 where there is none
  const std::string_view number = text.substr(0, digits);
  const std::string_view unit = text.substr(digits + (text.substr(digits).starts_with(' ') ? 1 : 0));
  const Parsed<Ratio> value = parse_ratio(number);
  if (!value.value) {
    return mistaken("wrong-type", fmt::format("'{}' is not a power", text),
                    R"(write a number and a unit, such as "500W")");
  }
  if (unit.empty()) {
    return mistaken("missing-unit", fmt::format("'{}' has no unit; expected a power", text),
                    fmt::format("write \"{}W\" if that is meant (units: {})", number, kNames));
  }
  const auto* const known =
      std::find_if(kPowerUnits.begin(), kPowerUnits.end(), [&](const PowerUnit& each) { return each.name == unit; });
  if (known == kPowerUnits.end()) {
    return mistaken("wrong-unit", fmt::format("'{}' is not a unit of a power", unit),
                    fmt::format("units are {}", kNames));
  }
  const Wide milliwatts = Wide{value.value->numerator} * known->milliwatts;
  const Wide whole = milliwatts / value.value->denominator;
  if (milliwatts % value.value->denominator != 0) {
    return mistaken("out-of-range", fmt::format("'{}' is finer than a milliwatt", text), "use fewer digits");
  }
  if (whole > INT64_MAX || whole < INT64_MIN) {
    return mistaken("out-of-range", fmt::format("'{}' is more than 64 bits can hold", text), "use a smaller value");
  }
  return {Power{static_cast<std::int64_t>(whole)}, {}};
}

std::string to_string(Power power) {
  const std::int64_t count = power.count();
  const auto* const unit = std::find_if(kPowerUnits.begin(), kPowerUnits.end() - 1, [&](const PowerUnit& each) {
    return count >= each.milliwatts || count <= -each.milliwatts;
  });
  return fmt::format("{} {}", to_string(Ratio{count, unit->milliwatts}), unit->name);
}

}  // namespace athanor
