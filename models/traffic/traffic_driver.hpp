#pragma once

#include <cstdint>
#include <vector>

#include "models/network/network.hpp"
#include "models/traffic/simulate_traffic.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Hands the messages of a matrix to a network when they are due, and writes down when each was delivered. In a matrix
/// with a window every connection has two messages under way until the window ends, so that it never has nothing to
/// send.
class TrafficDriver final : public Actor, public MoveListener {
 public:
  using Arrived = IdVector<ConnectionId, Bytes>;

  /// Borrows both.
  TrafficDriver(Simulator& simulator, const TrafficMatrix& matrix);

  /// To be called once, before the simulator runs. Borrows the network, which reports to this driver.
  void start(Network& network);

  std::size_t under_way() const { return under_way_; }
  /// The number of the first message that is; requires that one is.
  std::uint32_t first_under_way() const;
  /// In the order in which they were handed over.
  std::vector<MessageTimes> take_messages() { return std::move(messages_); }

  /// Of a matrix with a window, what arrived within it; nothing where the network does not tell.
  std::optional<Arrived> arrived_within() const;

  void on_event(std::uint64_t what) override;
  void injected(ConnectionId /*connection*/) override {}
  void grain_arrived(ConnectionId /*connection*/) override {}
  void delivered(ConnectionId connection) override;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// The messages of a connection that are under way, in order: they are delivered in that order.
  struct Queue {
    std::uint32_t first = kNone;  ///< into messages_
    std::uint32_t last = kNone;
  };

  static constexpr std::uint64_t kWindowBegins = std::uint64_t{1} << 32U;  ///< events beside those of messages
  static constexpr std::uint64_t kWindowEnds = kWindowBegins + 1;

  void hand_over(std::uint32_t message);
  Arrived arrived() const;
  void fire(std::uint32_t message);

  Simulator& simulator_;
  const TrafficMatrix& matrix_;
  ActorId self_;
  Network* network_ = nullptr;
  std::vector<MessageTimes> messages_;
  std::vector<std::uint32_t> next_;    ///< by entry of messages_: the next of its connection
  std::vector<std::uint32_t> origin_;  ///< by entry of messages_: the message of the matrix
  IdVector<ConnectionId, Queue> queues_;
  std::vector<std::uint32_t> awaited_;                  ///< by trigger: deliveries that are still to come
  std::vector<std::vector<std::uint32_t>> started_by_;  ///< by trigger: messages of the matrix
  Arrived delivered_;                                   ///< counted for a window only
  Arrived before_window_;                               ///< empty: not known
  Arrived by_its_end_;
  std::size_t under_way_ = 0;
};

}  // namespace athanor
