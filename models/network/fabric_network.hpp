#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/network/connections.hpp"
#include "models/network/link_use.hpp"
#include "models/network/network_settings.hpp"
#include "models/network/packet/packet_layout.hpp"
#include "models/network/queue_pairs.hpp"

namespace athanor {

class PacketNetwork;

/// The network of connections on a fabric at one of the levels, their queue pairs included: what is moved over
/// connection c goes over all of these.
class FabricNetwork {
 public:
  /// Borrows all of them but the options. At packet level: requires connections that do not stand for classes; throws
  /// as packet_topology().
  FabricNetwork(Simulator& simulator, const FabricConnections& connections, const Fabric& fabric,
                const NetworkOptions& options, std::uint64_t seed, MoveListener& listener);
  ~FabricNetwork();
  FabricNetwork(const FabricNetwork&) = delete;
  FabricNetwork& operator=(const FabricNetwork&) = delete;

  Network& network();

  /// What was done to it, given that everything was delivered by `end`. Loads are payload (at packet level: of data
  /// packets, as if all were full; those that are sent again though they need not be and the last acknowledgements
  /// come after `end`). Ports are those of the connections' links, then at packet level those that replies and further
  /// paths take. Requires that no link carried more than its rate, but at the ideal level, where they may.
  NetworkUse use(Time end) const;
  /// Most payload that a link carries in full packets; at the other levels its usable rate.
  Bandwidth payload_rate(LinkIndex link) const;

 private:
  bool is_paired() const { return connections_.queue_pairs > 1; }
  IdRange<LinkIndex> links() const;
  LinkId id(LinkIndex link) const;
  std::uint32_t members(LinkIndex link) const;
  Bandwidth wire_rate(LinkIndex link) const;
  Ratio payload_share(LinkIndex link) const;
  std::vector<LinkLoad> loads(Time time) const;
  std::vector<PortLoad> ports(Time time) const;

  const FabricConnections& connections_;
  const Fabric& fabric_;
  NetworkOptions options_;
  QueuePairs pairs_;
  std::optional<PacketsLaidOut> layout_;
  std::unique_ptr<Network> beneath_;
  PacketNetwork* packets_ = nullptr;  ///< `beneath_`, at packet level
};

}  // namespace athanor
