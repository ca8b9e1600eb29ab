#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/network/connections.hpp"
#include "models/network/packet/packet_settings.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// `links`: of the fabric, by link of the packet plan.
struct PacketsLaidOut {
  PacketTopology plan;
  IdVector<LinkIndex, LinkId> links;
};

/// The packet network of connections that do not stand for classes: queue pair q becomes flow q, link l becomes link l,
/// and behind are added links back and those of further paths: where packets take many, each queue pair takes all
/// shortest paths between the first and the last switch on its own. Acknowledgements take the path of their data
/// packets backwards.
///
/// A link brings the payload of usual packets over at its usable rate (4096 bytes on network links, at most at the line
/// rate; kPcieFraming, kNvlinkFraming); so a message alone takes as long as at flow level, apart from headers that the
/// usable rate does not allow for and from what packets wait at switches that do not cut through. Vertices where flows
/// begin or end are hosts.
///
/// Throws SimulationError: "latency-too-small" naming a link of less than PacketTopology::kLeastLatency, "one-way"
/// naming a link without another one back, "routing" where paths are longer than the shortest ones and packets are to
/// take many, "too-many-paths".
PacketsLaidOut packet_topology(const FabricConnections& connections, const Fabric& fabric,
                               const PacketSettings& settings);

/// All shortest paths from one switch to another over network links that are up and switches in between, as switches
/// that balance load have them in their tables.
class ShortestPaths {
 public:
  using Path = std::vector<LinkId>;
  /// Of more paths than this, so many that are spread evenly.
  static constexpr std::size_t kMostPaths = 256;

  /// Borrows the fabric.
  explicit ShortestPaths(const Fabric& fabric) : fabric_(fabric) {}

  /// In the order of their links, so that paths that begin alike stand together; none where the two are not joined.
  /// Remembers what was asked before.
  const std::vector<Path>& between(VertexId from, VertexId to);

  /// May load be balanced there: is it a switch of the network?
  static bool balances(VertexKind kind);

 private:
  std::vector<std::uint32_t> distances(VertexId to) const;
  void extend(Path& path, VertexId at, const std::vector<std::uint32_t>& distance, std::vector<Path>& found) const;

  const Fabric& fabric_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Path>> known_;
};

}  // namespace athanor
