#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/cluster_state.hpp"

namespace athanor {

/// GPUs counted by their types alone, wherever they are: what jobs could have if nothing but numbers mattered.
class GpuCount {
 public:
  /// That are wholly free, of all open nodes.
  static GpuCount of_free(const ClusterState& state);

  /// Adds what a running job has. Of a GPU that it shares, its share.
  void give(const RunningJob& running, const ClusterState& state);
  /// Takes what the shape asks for, of its earliest types first. False: there is not as much, and nothing is taken.
  bool take(const Shape& shape, const Inventory& inventory);

 private:
  std::vector<std::uint64_t> milli_;  ///< of each type
};

}  // namespace athanor
