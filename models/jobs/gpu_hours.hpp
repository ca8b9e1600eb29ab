#pragma once

#include <vector>

#include "models/jobs/job.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/simulate_jobs.hpp"

namespace athanor {

/// What GPUs did during a run, in hours of one GPU; together all GPUs for all the time.
struct GpuHours {
  double useful = 0;      ///< work that lasted
  double writing = 0;     ///< checkpoints
  double lost = 0;        ///< work that was lost
  double detecting = 0;   ///< jobs had failed, and nobody knew
  double incomplete = 0;  ///< jobs had lost tasks, and too few left to work
  double starting = 0;    ///< jobs began, or began again
  double down = 0;        ///< of nodes that could not be used, and that no job held any more
  double idle = 0;        ///< all the rest
};

/// The same of the nodes of one domain, as far as that is known of nodes.
struct NodeHours {
  double used = 0;  ///< by jobs
  double down = 0;
  double idle = 0;
};

/// Of each node. A GPU that several jobs share is used by each. Requires a run whose stints were kept.
IdVector<NodeId, NodeHours> hours_by_node(const JobsRun& run, const JobList& jobs, const NodeList& nodes);
/// Of all nodes. Requires the same.
GpuHours gpu_hours_of(const JobsRun& run, const JobList& jobs, const NodeList& nodes);

}  // namespace athanor
