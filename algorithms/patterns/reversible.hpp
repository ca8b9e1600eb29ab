#pragma once

#include <memory>

#include "algorithms/schedule/layout.hpp"

namespace athanor {

// The schedules that others are the reverse of, each in the file of its algorithm. What flows backwards flows forwards
// when it is reversed. `copies`: backwards, what a rank copies piece by piece comes last first, and so first first when
// it is reversed.
std::unique_ptr<const Schedule> ring_all_gather_schedule(const Collective& collective, const Layout& layout,
                                                         Direction direction);
std::unique_ptr<const Schedule> direct_all_gather_schedule(const Collective& collective, const Layout& layout,
                                                           Direction direction);
std::unique_ptr<const Schedule> bruck_all_gather_schedule(const Collective& collective, const Layout& layout,
                                                          Direction copies);
std::unique_ptr<const Schedule> ring_broadcast_schedule(const Collective& collective, const Layout& layout,
                                                        Direction direction);
std::unique_ptr<const Schedule> linear_scatter_schedule(const Collective& collective, const Layout& layout);
std::unique_ptr<const Schedule> binomial_tree_scatter_schedule(const Collective& collective, const Layout& layout,
                                                               Direction copies);

}  // namespace athanor
