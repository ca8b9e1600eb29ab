#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/jobs/node_list.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// Which links of a fabric carry what nodes read from and write to the servers of a storage: each server an equal
/// part, spread evenly over all shortest ways.
class StoragePaths {
 public:
  using Shares = std::vector<std::pair<std::uint32_t, double>>;  ///< links, and the share of the bytes on each

  /// `servers`: nodes, as of nodes_of(cluster). `network`: of several side by side the number, from 1; none: any link
  /// that ranks use. Borrows the cluster's fabric.
  StoragePaths(const Cluster& cluster, const std::vector<NodeId>& servers, std::optional<std::uint8_t> network);

  /// Nothing within a server. Throws SimulationError("no-route") where a server cannot be reached.
  Shares reading(NodeId node) const;
  Shares writing(NodeId node) const;
  /// The first node that does not reach all servers; none: all do.
  std::optional<NodeId> cut_off() const;
  double rate(std::uint32_t link) const;

 private:
  static constexpr std::uint32_t kFar = UINT32_MAX;
  bool carries(const Link& link) const;
  /// Hops from each vertex to a server.
  std::vector<std::uint32_t> distances_to(NodeId server) const;
  bool reaches(NodeId node, std::size_t server) const;
  void add_walk(NodeId node, std::size_t server, bool reading, std::vector<double>& shares) const;
  Shares shares_of(NodeId node, bool reading) const;

  std::shared_ptr<const Fabric> fabric_;
  std::optional<std::uint8_t> network_;
  std::vector<NodeId> servers_;
  std::vector<std::vector<VertexId>> ports_;           ///< devices with links of the network, by node
  std::vector<std::vector<std::uint32_t>> distances_;  ///< by server and vertex
};

}  // namespace athanor
