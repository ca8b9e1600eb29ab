#pragma once

#include <cstdint>

#include "algorithms/catalog.hpp"
#include "models/execution/simulate.hpp"
#include "topologies/cluster.hpp"

namespace athanor::testing {

/// What closed forms are held against: a message takes kAlpha on its way, an element of 4 bytes takes 400 ps on a link
/// and 40 ps to be added, which neither is hidden behind a transfer nor hides one. A sender goes on when its message
/// has arrived. At these rates times are whole picoseconds.
inline constexpr Time kAlpha{1'000'000};
inline constexpr Bandwidth kRate{10'000'000'000};
inline constexpr Bandwidth kReduceRate{100'000'000'000};

/// alpha, beta and gamma times their factors.
Time closed_form(const Cost& terms);

/// A collective of n elements; all-to-all-v with blocks of equal size.
Collective even_collective(CollectiveKind kind, std::uint32_t ranks, std::int64_t n);

/// How long the schedule takes. Ranks are on the first endpoints, and a server on the next one; an NVSwitch engine is
/// on the switch next to the first, and adds in no time.
Time simulated(const Algorithm& algorithm, const Collective& collective, const Layout& layout, const Cluster& cluster,
               NetworkLevel level = NetworkLevel::flow, Bandwidth reduce_rate = kReduceRate);

}  // namespace athanor::testing
