#pragma once

#include <string>

#include "sim/ratio.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// For people, yet exact: the largest unit in which the value is at least 1, with all digits ("1.5 us", "50 GB/s").
/// Bytes: a binary unit where that gives a whole number below 4096 ("256 MiB"), else a decimal one with at most three
/// digits after the point ("1.5 GB"), else bytes. parse_time and so on read the same value back.
std::string to_string(Time time);
/// Whole weeks are days: "21 d", "36 h", "90 min"; what is no whole number of minutes is in seconds: "61.5 s".
std::string to_string(WallTime time);
std::string to_string(Bytes bytes);
std::string to_string(Bandwidth bandwidth);
/// "0.95"; "1/3" where no decimal of 18 digits is exact.
std::string to_string(Ratio ratio);

/// Without the blank, as scenarios and profiles write quantities: "1.5us", "50GB/s".
template <class Quantity>
std::string written(Quantity quantity) {
  std::string text = to_string(quantity);
  std::erase(text, ' ');
  return text;
}

}  // namespace athanor
