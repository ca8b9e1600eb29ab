#pragma once

#include <utility>
#include <vector>

#include "models/jobs/cluster_state.hpp"

namespace athanor {

/// Nodes that a waiting job is promised for the time when it can begin at the latest, if running jobs end when they are
/// expected to.
struct Reservation {
  JobId job;
  WallTime start;    ///< max: never, as things are
  Allocation where;  ///< of nodes as they are free then

  /// The earliest for this job: running jobs are taken away in the order of their ends until it fits.
  static Reservation of(JobId job, ClusterState& state);
};

/// While it lives, what a reservation names and is free at present is taken, so that what is placed meanwhile does not
/// need it.
class Hold {
 public:
  Hold(const Reservation& reservation, ClusterState& state);
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Inventory& inventory_;
  std::vector<std::pair<NodeShare, Demand>> held_;
};

}  // namespace athanor
