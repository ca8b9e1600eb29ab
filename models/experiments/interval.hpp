#pragma once

#include <string>

namespace athanor {

/// "-10/+16 %" of multiples of the simulated time, between which eight of ten measured ones are expected.
std::string interval_text(double low, double high);

/// Standard deviation of a time's logarithm, by that interval: by its longer side, since the other one may end at the
/// hardware's bound. Requires multiples above 0.
double spread_of(double low, double high);

/// That what was simulated `ratio` times as long as another thing (or as short) is longer (or shorter), too, where both
/// are measured: their logarithms are off by normal errors of these spreads, of whose variance `shared` is common to
/// both. From 0.5, where ratio is 1, to 1.
double certainty(double ratio, double spread, double other_spread, double shared);

}  // namespace athanor
