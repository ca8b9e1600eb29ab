#pragma once

#include <string>
#include <string_view>

#include "sim/parse.hpp"
#include "sim/quantity.hpp"

namespace athanor {

struct Milliwatts {
  [[noreturn]] static void overflow();
};
/// What a part draws. 700 W is 700'000.
using Power = Quantity<Milliwatts>;

constexpr double watts(Power power) { return static_cast<double>(power.count()) * 1e-3; }

/// "700W", "0.7 kW": as parse_time, in mW, W, kW, MW.
Parsed<Power> parse_power(std::string_view text);
/// As to_string of other quantities: "700 W", "1.2 kW".
std::string to_string(Power power);

}  // namespace athanor
