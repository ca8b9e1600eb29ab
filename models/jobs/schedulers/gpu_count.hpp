#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/cluster_state.hpp"

namespace athanor {

/// GPUs counted by their types alone, wherever they are: what jobs could have if nothing but numbers mattered.
class GpuCount {
 public:
  /// Of all open nodes, whether jobs have them or not. A GPU that is shared counts as far as running jobs have it.
  static GpuCount of_all(const ClusterState& state);

  /// Takes what the shape asks for, of its earliest types first. False: there is not as much, and nothing is taken.
  bool take(const Shape& shape, const Inventory& inventory);

 private:
  std::vector<std::uint64_t> milli_;  ///< of each type
};

}  // namespace athanor
