#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/schedulers/sia_choice.hpp"

namespace athanor {

/// cheapest_options() for any number of types, as an integer program: each job has one option at most, and no type more
/// GPUs than there are. Branch and bound ends where no other choice could save more than so much more, of what this one
/// saves over no GPUs for anybody: proving the last bit of it may take for ever. The same each time.
constexpr double kSiaGap = 5e-4;
std::vector<std::optional<SiaOption>> solve_sia_program(const std::vector<SiaJob>& jobs,
                                                        const std::vector<std::uint32_t>& gpus);

}  // namespace athanor
