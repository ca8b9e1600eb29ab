#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/calibrate/pool/pooled_fit.hpp"

namespace athanor {

/// What is told to a fit of a stack whose rows are judged.
enum class HeldOut : std::uint8_t {
  nothing,      ///< all rows
  sizes,        ///< every other size of each table, in turn
  table,        ///< the stack's other tables
  stack,        ///< no row of the stack
  all_but_two,  ///< the smallest and the largest size of one of its tables
  collective,   ///< all tables of other collectives, of this stack and all others
};
constexpr std::size_t kHeldOuts = 6;

/// log(simulated / measured) of each row by a fit that has not seen it; NaN of rows that are not judged: of stacks with
/// one table, the two that were told. Spreads stay those of the whole fit.
std::vector<double> hold_out(PooledModel& model, const PooledFit& whole, HeldOut what);

}  // namespace athanor
