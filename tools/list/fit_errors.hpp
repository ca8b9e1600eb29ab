#pragma once

#include <string>

#include "sim/config/json_value.hpp"

namespace athanor {

/// What the "calibration" of a profile's file says: by its keys, "fit" and those of what was held out, medians of
/// |error| over tables: "median" of all sizes, and "below_1MiB", "to_64MiB" and "above" as far as they are told apart.
JsonValue fit_errors(const JsonValue& file);

/// "5.9/5.7/1.2", in %: of each band of sizes; of all where they are not told apart; "-" for a null pointer.
std::string by_band(const JsonValue* medians);

}  // namespace athanor
