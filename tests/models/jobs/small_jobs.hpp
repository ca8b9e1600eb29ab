#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "models/jobs/job.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/placement/placement.hpp"
#include "models/jobs/schedulers/scheduler.hpp"
#include "models/jobs/simulate_jobs.hpp"

namespace athanor {

/// A job of tests: seconds and GPUs.
struct SmallJob {
  std::int64_t submitted = 0;
  std::int64_t duration = 1;
  std::uint32_t gpus = 1;
  std::int64_t expected = 0;  ///< 0: its duration
};

WallTime wall_seconds(std::int64_t seconds);
JobList list_of(const std::vector<SmallJob>& jobs);
/// So many nodes with so many GPUs each.
NodeList equal_nodes(std::uint32_t nodes, std::uint16_t gpus);
/// Of the catalogs, with the defaults of their keys. `keys`: JSON of the scheduler's object.
std::unique_ptr<Scheduler> scheduler_of(std::string_view name, const JobList& jobs, const NodeList& nodes,
                                        std::string_view keys = "{}");
std::unique_ptr<PlacementPolicy> placement_of(std::string_view name, const JobList& jobs, const NodeList& nodes,
                                              std::string_view keys = "{}", std::uint64_t seed = 1);
/// All of it, with rules that say nothing.
JobsRun run_of(const JobList& jobs, const NodeList& nodes, std::string_view scheduler, std::string_view keys = "{}",
               std::string_view placement = "best_fit", const JobsRules& rules = {});

}  // namespace athanor
