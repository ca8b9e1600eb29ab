#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// What is known of jobs that get links in an order (Crux, SIGCOMM 2024, section 4).
struct LinkContention {
  std::vector<double> intensity;         ///< by job: computing for the time of its busiest link
  std::vector<double> priority;          ///< by job: who has more goes first
  std::vector<std::vector<bool>> meets;  ///< by two jobs: they share a link that may be short
};

/// Of each job, its class: a higher one gets links first; at most `classes`. Jobs that meet have the order of their
/// priorities, or one class. What jobs of one class that meet lose, the intensity of the one that should go first, is
/// as little as any of some topological orders of the jobs allows when it is cut into classes (section 4.3, algorithm
/// 1). Where each job can have a class of its own, it is nothing. Requires a class.
std::vector<std::uint32_t> priority_classes(const LinkContention& jobs, std::uint32_t classes);

}  // namespace athanor
