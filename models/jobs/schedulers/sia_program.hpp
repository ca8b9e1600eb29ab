#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/schedulers/sia_choice.hpp"

namespace athanor {

/// cheapest_options() for any number of types, as an integer program: each job has one option at most, and no type more
/// GPUs than there are. Of several solutions of the least cost one, the same each time.
std::vector<std::optional<SiaOption>> solve_sia_program(const std::vector<SiaJob>& jobs,
                                                        const std::vector<std::uint32_t>& gpus);

}  // namespace athanor
