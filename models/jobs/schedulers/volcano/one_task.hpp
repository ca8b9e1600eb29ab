#pragma once

#include "models/jobs/cluster_state.hpp"

namespace athanor {

/// The first task of a share that has some.
inline NodeShare one_task(const NodeShare& share, const Demand& each) {
  const GpuSet gpus = each.gpu_milli > 0 ? share.gpus : share.gpus.lowest(each.gpus);
  return {share.node, share.group, 1, gpus, 0, share.nics.lowest(each.nics)};
}

}  // namespace athanor
