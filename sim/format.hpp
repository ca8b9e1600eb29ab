#pragma once

#include <string>

#include "sim/ratio.hpp"
#include "sim/time.hpp"
#include "sim/units.hpp"

namespace athanor {

/// For people and, exact as they are, for files: the largest unit in which the value is at least 1, all digits
/// ("1.5 us", "256 MiB", "50 GB/s"). Bytes use binary units where these need no digit after the point, else decimal
/// ones where these need at most three, else plain bytes. parse_... reads them back to the same value.
std::string to_string(Time time);
std::string to_string(Bytes bytes);
std::string to_string(Bandwidth bandwidth);
/// "0.95"; "1/3" where no decimal of 18 digits is exact.
std::string to_string(Ratio ratio);

}  // namespace athanor
