#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/units.hpp"

namespace athanor {

/// How much of a stack had been measured before one of its times was predicted, from most to least.
enum class Knowledge : std::uint8_t {
  sizes,     ///< other sizes of the same collective on as many ranks
  tables,    ///< other collectives, or other numbers of ranks
  two_rows,  ///< the smallest and the largest size
  nothing,   ///< its parts alone, in other stacks
};
inline constexpr std::array kKnowledges{Knowledge::sizes, Knowledge::tables, Knowledge::two_rows, Knowledge::nothing};
std::string_view name(Knowledge knowledge);

/// Ranges of sizes within which predictions are off by the like: below 1 MiB launches and steps count, above 64 MiB
/// links alone.
enum class SizeBand : std::uint8_t { small, middle, large };
constexpr std::size_t kSizeBands = 3;
SizeBand band_of(Bytes size);

/// How far predictions were off on rows that no fit had seen: a measured time over the simulated one.
struct PredictionError {
  Knowledge knowledge = Knowledge::nothing;
  bool several_nodes = false;
  SizeBand band = SizeBand::small;
  double low = 1;            ///< one measured time in ten is below this multiple of the simulated one
  double high = 1;           ///< one in ten is above
  double shared = 0;         ///< of the variance of its logarithm, what predictions of one stack have in common
  std::uint32_t tables = 0;  ///< that were held out
};
void visit(Fields& fields, PredictionError& error);

/// That of predictions of this kind; null: none was held out.
const PredictionError* find(const std::vector<PredictionError>& errors, Knowledge knowledge, bool several_nodes,
                            Bytes size);

}  // namespace athanor
