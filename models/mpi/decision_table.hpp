#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace athanor {

/// Below so many bytes the algorithm with this number in the library.
struct SizeBand {
  std::int64_t below = 0;
  std::uint8_t algorithm = 0;
};

/// Below so many ranks these bands, in rising order; the last holds all sizes.
struct RankBand {
  std::uint32_t below = 0;
  std::vector<SizeBand> sizes;
};

/// In rising order; the last holds all numbers of ranks.
using DecisionTable = std::vector<RankBand>;

constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kAnyRanks = std::numeric_limits<std::uint32_t>::max();

/// The number that the table has for a call. Requires a table as above.
std::uint8_t decide(const DecisionTable& table, std::uint32_t ranks, std::int64_t bytes);

/// An algorithm of a library, by its number: its name there, and the one in the catalog that does the same; "": none.
struct NumberedAlgorithm {
  std::uint8_t number = 0;
  const char* own = "";
  const char* algorithm = "";
};

}  // namespace athanor
