#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "models/workload/call_estimate.hpp"
#include "models/workload/contested_step.hpp"
#include "models/workload/workload.hpp"
#include "sim/time.hpp"

namespace athanor {

/// How much of a link a workload takes at most, beside what else it does at that time.
struct LinkDemand {
  std::uint32_t link = 0;
  double share = 0;  ///< above 0; above 1 where its own calls may be slowed down by each other
};

/// Of all links that it uses, in ascending order.
std::vector<LinkDemand> link_demand(const Workload& workload, const WorkloadEstimates& estimates);

/// Workloads that belong together since links may be short for them.
struct LinkGroups {
  std::vector<std::uint32_t> of;     ///< by workload, its group; counted from 0 in the order of their first workloads
  std::vector<std::uint32_t> links;  ///< that may be short for several, in ascending order
};
LinkGroups groups_by_links(std::span<const std::vector<LinkDemand>* const> demands);

/// Of each estimate, whether it uses one of these links, which are in ascending order.
std::vector<bool> uses(const WorkloadEstimates& estimates, std::span<const std::uint32_t> links);

/// A step that is done again and again.
struct RepeatedStep {
  const ContestedStep* step = nullptr;
  const Workload* workload = nullptr;            ///< whose step it is
  const WorkloadEstimates* estimates = nullptr;  ///< on the fabric that all of them share
  Time begins;                                   ///< for the first time
  std::uint32_t priority = 0;                    ///< its transfers get links before those of lower ones
};

/// What steps take from one repetition to the next while all of them are repeated on one fabric, in the mean of at
/// least `repetitions` behind the first one, in which each finds its place among the others. Each begins again when it
/// has ended. Requires steps that take time. Throws Interrupted.
std::vector<Time> periods_side_by_side(std::span<const RepeatedStep> steps, std::uint32_t repetitions,
                                       const std::stop_token& stop);

}  // namespace athanor
