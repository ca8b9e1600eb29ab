#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "models/network/fabric_network.hpp"
#include "models/serving/kv_shares.hpp"

namespace athanor {

struct Cluster;

/// Two pools of replicas, which follow each other in rank order: first those that prefill.
struct PoolPlaces {
  std::uint32_t prefill = 1;         ///< replicas
  std::uint32_t prefill_tensor = 1;  ///< GPUs of each
  std::uint32_t decode = 1;
  std::uint32_t decode_tensor = 1;
  std::uint32_t gpus() const { return prefill * prefill_tensor + decode * decode_tensor; }
};

/// Where keys and values go when.
struct KvRoute {
  std::uint32_t prefill = 0;  ///< replica
  std::uint32_t decode = 0;
};

/// The fabric between two pools: messages from GPUs to GPUs, which share links as the network's level has it. Every
/// pair of replicas has a connection of its own for each share, on which messages follow each other.
class KvNetwork final : public MoveListener {
 public:
  /// `arrived` is told of each request when all that was sent for it is there. Borrows the simulator, the cluster and
  /// what `arrived` does. Requires as many endpoints as the places have GPUs. Throws SimulationError("no-route"), and
  /// at packet level as FabricNetwork.
  KvNetwork(Simulator& simulator, const Cluster& cluster, const PoolPlaces& places, std::vector<KvShare> shares,
            const NetworkOptions& options, std::uint64_t seed, std::function<void(std::uint32_t)> arrived);

  /// Of so many tokens, added up over layers. Requires at least one.
  void send(std::uint32_t request, KvRoute route, std::uint64_t tokens);
  /// Nothing more follows for this request, of which something was sent at this instant.
  void close(std::uint32_t request);

  std::uint64_t bytes() const { return bytes_; }  ///< that were sent
  std::size_t under_way() const { return missing_.size(); }

  void injected(ConnectionId /*connection*/) override {}
  void grain_arrived(ConnectionId /*connection*/) override {}
  void delivered(ConnectionId connection) override;

 private:
  struct Missing {
    std::uint64_t messages = 0;
    bool closed = false;
  };
  FabricConnections connect(const Cluster& cluster, std::uint64_t seed, const NetworkOptions& options) const;

  PoolPlaces places_;
  std::vector<KvShare> shares_;
  std::function<void(std::uint32_t)> arrived_;
  FabricConnections connections_;
  std::vector<std::deque<std::uint32_t>> sent_;  ///< by connection: requests, in their order
  std::map<std::uint32_t, Missing> missing_;     ///< by request
  std::uint64_t bytes_ = 0;
  std::optional<FabricNetwork> network_;
};

}  // namespace athanor
