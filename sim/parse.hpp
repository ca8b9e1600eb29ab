#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/ratio.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// Why a text is not a quantity: the code, message and hint of a Problem, without its place.
struct Mistake {
  std::string code;  ///< "missing-unit", "wrong-unit", "out-of-range" or "wrong-type"
  std::string message;
  std::string hint;
};

template <class T>
struct Parsed {
  std::optional<T> value;
  Mistake mistake;  ///< meaningful when there is no value
};

/// Texts such as "1.5us", "256 MiB", "-3ns": decimal digits, an optional space, a unit. Converted digit by digit, so
/// what is written is what is meant: a text finer than a picosecond, microsecond, byte or byte/s is a mistake, never
/// rounded. Only the sign and the 64 bits limit the value here; ranges are the caller's.
///
/// Time: ps ns us ms s. WallTime: us ms s min h d w. Bytes: B, kB KB MB GB TB (decimal), KiB MiB GiB TiB (binary).
/// Bandwidth: B/s, b/s and all their decimal and binary multiples: "50GB/s", "400Gb/s" ("Gbit/s" and "Gbps" too).
Parsed<Time> parse_time(std::string_view text);
Parsed<WallTime> parse_wall_time(std::string_view text);
Parsed<Bytes> parse_bytes(std::string_view text);
Parsed<Bandwidth> parse_bandwidth(std::string_view text);

/// "12", "1e6", "2.5e3": a whole number from 0 on, however it is spelt; none for all else.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// "0.95", "1e-3", "2" as an exact fraction over a power of ten, of at most 18 digits.
Parsed<Ratio> parse_ratio(std::string_view text);

}  // namespace athanor
