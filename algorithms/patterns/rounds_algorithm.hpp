#pragma once

#include "algorithms/patterns/rounds_exchange.hpp"

namespace athanor {

/// What the algorithms by rounds of all kinds share; summary, formula, explanation and fabrics are for the caller.
Algorithm rounds_algorithm(CollectiveKind kind, RoundsPath path);
/// The same with all words but the formula, for blocks of equal and of any sizes.
Algorithm all_to_all_in_rounds(CollectiveKind kind, RoundsPath path);

}  // namespace athanor
