#pragma once

#include <string>

#include "tools/calibrate/pool/stack_profile.hpp"

namespace athanor {

/// CSV of every row that was judged, by what was held out and then as tables come: "hold_out" (a name() of HeldOut),
/// "table", "stack", "collective", "ranks", "bytes", "measured_time_us", "time_us", "error" (time / measured - 1), and
/// between which times eight of ten measured ones lie by what other stacks were off, "time_low_us" and "time_high_us";
/// these are empty where no interval counts such a row: of the fit itself, of spikes, noisy tables and collectives that
/// were held out. "spike" and "noisy" say which rows no median counts.
std::string residual_table(const Tables& tables, const std::vector<StackCase>& cases,
                           const HeldOutResiduals& residuals);

}  // namespace athanor
