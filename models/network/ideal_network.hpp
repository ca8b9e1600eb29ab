#pragma once

#include "models/network/message_queues.hpp"
#include "models/network/network.hpp"
#include "models/network/timer.hpp"

namespace athanor {

/// A network without contention: a message is injected in size / min(cap, slowest link on its path), whatever else
/// moves, and is delivered one latency later. Links may thus be asked to carry more than their rate: what it tells is
/// how long things would take if every connection had its path to itself.
class IdealNetwork final : public Network, public Actor {
 public:
  /// Borrows the simulator and the listener. Requires a graph whose indices, rates and latencies are valid.
  IdealNetwork(Simulator& simulator, const FlowGraph& graph, MoveListener& listener);

  void move(ConnectionId connection, Bytes size) override;
  /// Bytes of the messages that have been injected wholly.
  Bytes carried(LinkIndex link) const override;
  void snapshot(std::vector<std::int64_t>& state) const override;
  void fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) override;

  void on_event(std::uint64_t what) override;

 private:
  struct Connection {
    Time latency;
    Bandwidth rate;  ///< max: without limit
    Bytes grain;
    Time free;  ///< when all messages given so far have been injected
  };
  void give(const NoticeQueue::Entry& entry);

  Simulator& simulator_;
  MoveListener& listener_;
  FlowGraph graph_;
  IdVector<ConnectionId, Connection> connections_;
  CarriedBytes carried_;
  NoticeQueue notices_;
  Timer timer_;
};

}  // namespace athanor
