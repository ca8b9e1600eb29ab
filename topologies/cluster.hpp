#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/ratio.hpp"
#include "topologies/fabric/fabric.hpp"
#include "topologies/fabric/router.hpp"
#include "topologies/fabric/structure.hpp"
#include "topologies/node/node_identity.hpp"

namespace athanor {

/// A fabric that jobs run on: its routing, and the devices that ranks are placed on.
struct Cluster {
  std::string description;         ///< one line for people: "16 x DGX-H100 on a rail-optimized fat tree"
  std::shared_ptr<Fabric> fabric;  ///< shared by clusters that differ in the seed of their routing only
  std::shared_ptr<const Router> router;
  std::vector<VertexId> endpoints;       ///< GPUs (or hosts of a fabric without nodes), in rank order: node by node
  std::uint32_t endpoints_per_node = 1;  ///< 0: nodes differ in it
  std::uint32_t nics_per_node = 0;       ///< rails; 0: endpoints are on the fabric themselves, or nodes differ
  std::uint32_t nics_per_endpoint = 1;   ///< that the GPU with most has to itself
  std::uint32_t processors = 0;          ///< that ranks share as threads of one process; 0: every rank is a device
  std::uint32_t shared_gpus = 0;         ///< whose memory ranks share as thread blocks; 0: every rank is a device
  bool nvswitches_reduce = true;         ///< where there are any: all of them add up and multicast
  std::optional<NodeIdentity> identity;  ///< of the first node; none where endpoints are on the fabric themselves
  std::vector<NodeIdentity> others;      ///< of a mixture's further kinds of nodes
  bool alike_from_every_node = false;    ///< generated: what is true of the routes of one node holds for all

  std::vector<NetworkSummary> networks;  ///< where there are several
  std::optional<std::uint8_t> network;   ///< of them the one whose links ranks use: Link::network

  PictureHint picture;

  /// Sides of a torus or mesh whose positions are the endpoints, in rank order with the last varying fastest; zeros
  /// behind them, and all zero where the cluster is none or has more sides.
  std::array<std::uint32_t, 6> torus{};

  std::vector<CutSet> cut_sets;       ///< one of each distinct shape, from a node up to halves
  std::vector<TierSummary> tiers;     ///< from the endpoints upwards
  std::vector<std::string> warnings;  ///< what a user may not have meant: "the last leaf has 3 of 32 hosts"
};

/// Whether ranks of a cluster may use a link, down or not: all but those of networks beside theirs.
inline bool belongs(const Cluster& cluster, const Link& link) {
  return !cluster.network || link.kind != LinkKind::network || link.network == *cluster.network;
}

/// The same cluster as if it had been made with another seed of routing.
Cluster with_seed(const Cluster& cluster, std::uint64_t seed);

/// A set of endpoints and what its boundary carries: traffic between inside and outside cannot exceed it.
struct Cut {
  std::string name;          ///< "node 3", "leaf 0", "half"
  std::uint32_t inside = 0;  ///< endpoints inside
  Bandwidth out;             ///< line rate of all links that leave, and of all that enter
  Bandwidth in;
  std::vector<LinkId> links_out;  ///< the boundary
};

/// The cuts that a hierarchy suggests, one of each distinct shape: an endpoint, a node, a leaf group, a pod, halves.
std::vector<Cut> natural_cuts(const Cluster& cluster);
/// All the halves among them, equal shapes too.
std::vector<Cut> half_cuts(const Cluster& cluster);

}  // namespace athanor
