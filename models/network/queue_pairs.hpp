#pragma once

#include <cstdint>
#include <vector>

#include "models/network/network.hpp"

namespace athanor {

/// Several connections of a network that act as one: as the queue pairs of an RDMA connection, each with a way of its
/// own. Every message is split evenly over them, to the byte as evenly as it goes; it is injected, arrived by its first
/// grain or delivered when all of its parts are.
class QueuePairs final : public Network, public MoveListener {
 public:
  /// Of `connections` connections, `pairs` each: those of connection c are [c * pairs, (c + 1) * pairs) of the network
  /// beneath. Borrows the listener, which hears of connections.
  QueuePairs(MoveListener& listener, std::size_t connections, std::uint32_t pairs);

  /// The network beneath, whose listener this must be; before the first move.
  void over(Network& network) { network_ = &network; }

  void move(ConnectionId connection, Bytes size) override;
  Bytes carried(LinkIndex link) const override { return network_->carried(link); }
  void snapshot(std::vector<std::int64_t>& state) const override;
  void fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) override {
    network_->fast_forward(by, times, carried_before);
  }

  void injected(ConnectionId part) override;
  void grain_arrived(ConnectionId part) override;
  void delivered(ConnectionId part) override;

 private:
  /// By part: of how many messages more than of the whole connection this is known. Some part of each has none.
  using Ahead = IdVector<ConnectionId, std::uint32_t>;
  bool completes(Ahead& ahead, ConnectionId part) const;
  ConnectionId whole(ConnectionId part) const { return ConnectionId{part.value / pairs_}; }

  MoveListener& listener_;
  Network* network_ = nullptr;
  std::uint32_t pairs_;
  Ahead injected_;
  Ahead grains_;
  Ahead delivered_;
};

}  // namespace athanor
