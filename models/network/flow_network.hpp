#pragma once

#include "models/network/max_min_shares.hpp"
#include "models/network/message_queues.hpp"
#include "models/network/network.hpp"
#include "models/network/timer.hpp"

namespace athanor {

/// A network in which the messages being injected share the links max-min fairly at every moment, as fluids.
///
/// All starts and ends of one instant are settled together, after everything else that happens at that instant. A
/// message is injected at the first picosecond at which all its bytes are out; what is out is counted exactly (rate x
/// time in 128 bits), so a message alone on its path takes transfer_time(size, slowest). No link ever carries more
/// than its rate. A first grain arrives one latency and the grain's transfer time, at the rate at which its message
/// starts, after that start, even when the rate changes meanwhile, but no later than the whole message.
class FlowNetwork final : public Network, public Actor {
 public:
  /// Borrows the simulator and the listener. Requires a graph whose indices, rates and latencies are valid.
  /// Throws SimulationError("link-too-fast", ...) for a link above 4 PB/s. `leeway`: as of MaxMinShares.
  FlowNetwork(Simulator& simulator, const FlowGraph& graph, MoveListener& listener, Ratio leeway = {0, 1});

  void move(ConnectionId connection, Bytes size) override;
  /// Whole bytes of each message so far; costs time in proportion to the connections that use the link.
  Bytes carried(LinkIndex link) const override;
  void snapshot(std::vector<std::int64_t>& state) const override;
  void fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) override;

  void on_event(std::uint64_t what) override;
  void on_end_of_instant() override;

 private:
  struct Connection {
    Wide remaining = 0;   ///< of the message being injected, at `since`, in bytes / (1024 x 10^12)
    Time since;           ///< when `remaining` held
    FineRate rate = 0;    ///< since then
    bool busy = false;    ///< a message is being injected
    bool starts = false;  ///< in starting_: its rate is not known before the instant is settled
    bool shares = false;  ///< has links
    Time latency;
    Bandwidth cap;
    Bytes grain;
    Bytes injected;               ///< whole messages
    Bytes timed_size;             ///< the last size whose duration was computed, ...
    FineRate timed_rate = 0;      ///< ... at this rate ...
    Time timed_duration;          ///< ... and the result
    std::uint32_t started = 0;    ///< messages, modulo 2^32
    std::uint32_t grains = 0;     ///< messages whose grain has been told of
    std::uint32_t delivered = 0;  ///< messages
  };

  struct User {
    ConnectionId connection;
    std::uint32_t flows = 0;
  };

  void begin(ConnectionId connection);
  void begin_at_once(ConnectionId connection, Bytes size);
  void begin_injection(ConnectionId connection);
  void change_rate(ConnectionId connection);
  void complete(ConnectionId connection);
  void expect_grain(ConnectionId connection, Time after);
  void finish_injections();
  void tell_grains();
  void deliver(ConnectionId connection);
  Time duration(Connection& self, Bytes size) const;
  Wide remaining_now(const Connection& self) const;
  void list_users_of_slack(const FlowGraph& graph);
  Bytes carried_by(ConnectionId connection) const;

  Simulator& simulator_;
  MoveListener& listener_;
  IdVector<ConnectionId, Connection> connections_;
  CarriedBytes skipped_;  ///< carried by each link in repetitions that were not simulated
  /// What crosses each slack link, of which the shares know nothing; empty where there is none.
  IdVector<LinkIndex, std::vector<User>> users_of_slack_;
  std::vector<ConnectionId> starting_;
  MaxMinShares shares_;
  MessageQueues queues_;
  ActorId self_;
  Completions completions_;
  Timer completion_timer_;
  NoticeQueue grains_;
  Timer grain_timer_;
  DeliveryPipes deliveries_;
};

}  // namespace athanor
