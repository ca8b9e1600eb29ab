#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/schedulers/sia_choice.hpp"

namespace athanor {

/// The search for what is best ends where no other choice could save more than so much of what is saved over no GPUs
/// for anybody: proving the last bit of it may take for ever.
constexpr double kSiaGap = 5e-4;

/// cheapest_options() for any number of types, as an integer program: each job has one option at most, and no type more
/// GPUs than there are. Down to kSiaGap, and the same each time.
std::vector<std::optional<SiaOption>> solve_sia_program(const std::vector<SiaJob>& jobs,
                                                        const std::vector<std::uint32_t>& gpus);

}  // namespace athanor
