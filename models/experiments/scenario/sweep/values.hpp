#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace athanor {

/// Most values that one parameter may have.
constexpr std::size_t kMostValues = 1'000'000;

/// From `from` on: `from` + i x `step`, or `from` x `factor` to the power of i, up to `to`.
struct ValueRange {
  std::string from;  ///< a number, or a quantity: "8", "0.5", "100Gb/s"
  std::string to;
  std::string step;   ///< of the kind of `from`; "": there is a factor
  double factor = 2;  ///< above 1; counts where there is no step
};

/// The values as JSON texts: numbers, or quantities in quotes. Those of quantities keep the unit of `from` where `to`
/// and `step` have it too, and are in B, ps or B/s otherwise. A number of at most 12 digits is exact.
/// Throws std::invalid_argument, which says what is wrong with it in the user's words: no number, kinds that do not
/// fit, no value in it, more than kMostValues.
std::vector<std::string> expand(const ValueRange& range);

/// What a command line writes: "1,2,4", "8..1024" (doubled), "8..1000*10", "0.5..0.9+0.1", and several of these with
/// commas between. What is no number, quantity or other JSON is a string. Throws as expand().
std::vector<std::string> parse_values(std::string_view text);

}  // namespace athanor
