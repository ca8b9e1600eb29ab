#pragma once

#include <string_view>
#include <vector>

#include "sim/config/field_value.hpp"
#include "sim/parse.hpp"

namespace athanor {

/// Most sizes that one case may have.
constexpr std::size_t kMostSizes = 10'000;

/// "1MiB", "8B..8GiB" (from the first on, doubled as long as the last is not exceeded), "8B..8GiB*4" (four times the
/// one before), or several of these with commas between: "8B..1KiB,1GiB".
Parsed<std::vector<Bytes>> parse_sizes(std::string_view text);

/// A text as above, a list of sizes, or {"from": "8B", "to": "1GiB", "factor": 4}. Keeps the order that was written.
void read_sizes(FieldValue& value, std::vector<Bytes>& sizes);

}  // namespace athanor
