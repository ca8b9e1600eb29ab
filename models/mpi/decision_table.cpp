#include "models/mpi/decision_table.hpp"

#include "sim/check.hpp"

namespace athanor {

std::uint8_t decide(const DecisionTable& table, std::uint32_t ranks, std::int64_t bytes) {
  for (const RankBand& band : table) {
    if (ranks >= band.below) { continue; }
    for (const SizeBand& sizes : band.sizes) {
      if (bytes < sizes.below) { return sizes.algorithm; }
    }
  }
  require(false, "a decision table without a row for {} ranks and {} bytes", ranks, bytes);
  return 0;
}

}  // namespace athanor
