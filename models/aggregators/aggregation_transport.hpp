#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/aggregators/run_aggregation.hpp"
#include "models/network/connections.hpp"
#include "models/network/fabric_network.hpp"
#include "models/network/packet/ring.hpp"

namespace athanor {

/// What a worker of ATP has sent and not got back: packets from `first` on, fewer than the window has. The window
/// shrinks to half where a result is marked, once for all packets that were under way then, and grows by one packet
/// for each window of results that are not.
class SendWindow {
 public:
  static constexpr std::uint32_t kMost = 1U << 20U;

  /// Requires 0 < most <= kMost.
  SendWindow(std::uint32_t packets, std::uint32_t most);

  bool has_next() const { return next_ < packets_ && next_ - first_ < size_ / kFine; }
  std::uint32_t take_next() { return next_++; }

  bool waits_for(std::uint32_t sequence) const { return sequence < next_ && sequence >= first_ && !has(sequence); }
  bool done() const { return first_ == packets_; }

  /// How often a packet was sent that it waits for.
  std::uint32_t& tries(std::uint32_t sequence) { return tries_[sequence % most_]; }
  std::uint32_t tries(std::uint32_t sequence) const { return tries_[sequence % most_]; }

  /// A result that it waits for is there. Returns whether the oldest packet without one now counts as lost: its results
  /// were overtaken by `later` others; at most once for each packet.
  bool take(std::uint32_t sequence, std::uint32_t later);
  std::uint32_t first() const { return first_; }

  /// What a result tells of queues.
  void adapt(std::uint32_t sequence, bool marked);

 private:
  static constexpr std::uint64_t kFine = 65'536;  ///< parts of a packet that the window is counted in

  bool has(std::uint32_t sequence) const { return there_[sequence % most_] != 0; }
  void advance();

  std::uint32_t packets_;
  std::uint32_t most_;       ///< packets
  std::uint64_t size_;       ///< of the window, in parts of a packet
  std::uint32_t first_ = 0;  ///< the oldest without a result
  std::uint32_t next_ = 0;   ///< to be sent
  std::uint32_t ahead_ = 0;  ///< results that are there of later ones
  bool counted_lost_ = false;
  std::uint32_t halved_until_ = 0;  ///< results of packets before this one halve no more
  std::vector<std::uint8_t> there_;
  std::vector<std::uint32_t> tries_;
};

/// What travels between two that handle packets.
struct AggregationPacket {
  std::uint32_t sequence = 0;  ///< which part of the vector
  bool repeat = false;         ///< sent again
  bool collided = false;       ///< best_effort: found a slot taken
  bool marked = false;         ///< met a queue
  bool lost = false;           ///< will not arrive
  std::uint64_t sum = 0;       ///< what it holds of a vector whose element is w + 1 at worker w
  std::uint64_t workers = 0;   ///< best_effort: whose parts are in it, or whom it is for
};

/// No connection.
constexpr ConnectionId kNoConnection{UINT32_MAX};

/// Whom packets arrive at.
class PacketHandler {
 public:
  virtual ~PacketHandler() = default;
  virtual void arrive(ConnectionId connection, const AggregationPacket& packet) = 0;
};

/// Moves packets over a network, one message each, and loses some of them.
class AggregationTransport final : public MoveListener {
 public:
  /// What a connection is, beyond its path.
  struct Route {
    VertexId from;
    VertexId to;
    Time latency;                      ///< beyond that of the path
    Bandwidth cap = Bandwidth::max();  ///< on the wire
    std::uint32_t job = 0;
    Bytes last;                 ///< payload of the job's last packet
    std::uint32_t packets = 0;  ///< of the job
    bool marks = false;         ///< packets that meet a queue
    std::uint32_t span = 1;     ///< packets of it that are this far apart are never under way together
  };

  /// Borrows the cluster and the settings.
  AggregationTransport(const Cluster& cluster, const AggregatorSettings& settings, std::uint64_t seed);

  /// Returns its number. Throws SimulationError("no-route").
  ConnectionId add(const Route& route);
  /// To be called once, after all connections have been added. Borrows both. Throws as packet_topology().
  void open(Simulator& simulator, const NetworkOptions& options, PacketHandler& handler);

  void send(ConnectionId connection, AggregationPacket packet);

  /// That one full packet takes where nothing else moves.
  Time alone(ConnectionId connection) const;
  const FabricNetwork& network() const { return *network_; }
  std::uint64_t lost(std::uint32_t job) const { return lost_[job]; }
  std::uint64_t moved() const { return moved_; }

  void injected(ConnectionId connection) override { --lanes_[connection].waiting; }
  void grain_arrived(ConnectionId /*connection*/) override {}
  void delivered(ConnectionId connection) override;

 private:
  /// How often a packet was sent over a connection.
  struct Copies {
    std::uint32_t sequence = 0;
    std::uint32_t count = 0;
  };
  struct Lane {
    Route route;
    std::uint32_t waiting = 0;  ///< packets that have not left
    Ring<AggregationPacket> under_way;
    std::vector<Copies> copies;  ///< by sequence mod span; empty where nothing is lost
  };

  Bytes on_wire(const Lane& lane, std::uint32_t sequence) const;
  bool loses(ConnectionId connection, std::uint32_t sequence);

  const AggregatorSettings& settings_;
  std::uint64_t seed_;
  const Cluster& cluster_;
  ConnectionBuilder connections_;
  IdVector<ConnectionId, Lane> lanes_;
  std::vector<std::uint64_t> lost_;  ///< by job
  std::uint64_t moved_ = 0;
  PacketHandler* handler_ = nullptr;
  std::unique_ptr<FabricNetwork> network_;
};

}  // namespace athanor
