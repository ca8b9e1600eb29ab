#pragma once

#include "tests/fuzz/draws.hpp"

namespace athanor::fuzz {

/// The section `cluster` of a scenario, and what others have to know of it.
struct RandomCluster {
  Json section;
  std::string fabric;      ///< its kind
  bool has_nodes = false;  ///< with presets, whose rates and times are not in the scenario
  unsigned endpoints = 0;  ///< of clusters of GPUs; 0: not counted
  std::string profile;     ///< of the library, which suits its GPUs; "": none
};

/// Hosts on any fabric, or GPUs.
RandomCluster random_cluster(Draws& draws);
/// GPUs on an NVSwitch in each of up to three nodes.
RandomCluster random_gpus(Draws& draws);
/// One or two machines by the name that they have, for NCCL.
RandomCluster random_machines(Draws& draws);

}  // namespace athanor::fuzz
