#pragma once

namespace athanor {

/// The share of the clock of its multiprocessors that a GPU keeps under a power limit, in kernels that would draw
/// `most` without it. Dynamic power is as f V^2 (Rabaey, "Low power design essentials", 2009, chapter 3): near the top
/// the voltage rises with the clock f, so that the dynamic part grows as f^3; from a clock downwards the voltage stays,
/// and it grows as f. With x = (limit - idle) / (most - idle): cbrt(x) down to x = 0.545, and in proportion to x below.
///
/// Of the stages of GPT-3 175B on A100 with the clock fixed (Perseus, SOSP 2024; ml-energy/zeus, sosp24_data/emulation/
/// stage_profile/gpt3-175b+a100_sxm_bf16.csv) it meets the speed at powers from 1/2 of the most on within 3 %; where
/// the voltage stops falling is taken from there.
///
/// Requires idle < limit <= most; watts; idle 0 where it is not known.
double clock_share(double limit_w, double most_w, double idle_w);

}  // namespace athanor
