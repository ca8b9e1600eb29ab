#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/engines/engine_deployment.hpp"
#include "models/execution/simulate.hpp"

namespace athanor {

struct Cluster;
struct Profile;

/// What an experiment runs on: a cluster, how data travels over it, and what software costs there.
struct Platform {
  std::shared_ptr<const Cluster> cluster;  ///< shared by cases whose "cluster", routing and seed are the same
  NetworkSettings network;                 ///< how data travels
  std::shared_ptr<const EngineDeployment> aggregation;  ///< engines of the network's switches; null: they have none
  std::shared_ptr<const Profile> profile;               ///< of a platform that has been read: never null
  std::uint64_t seed = 1;                               ///< of routing's choices and of what experiments draw

  /// Whether ranks share one machine: its memory, or its GPUs.
  bool shares_machine() const;
};

/// The same with another seed, by which routing chooses anew.
Platform with_seed(const Platform& platform, std::uint64_t seed);

/// The same seen by ranks on some of its endpoints: they are all there are.
Platform on_endpoints(const Platform& platform, const std::vector<std::uint32_t>& endpoints);

/// The same for ranks on its first endpoints.
Platform on_first_endpoints(const Platform& platform, std::uint32_t ranks);

/// Where full buffers stop who fills them (packets under PFC or credits): whether routes may wait for each other in a
/// circle, in a sentence; "": they do not.
std::string circle_warning(const Platform& platform);

}  // namespace athanor
