#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/execution/mapped_schedule.hpp"
#include "models/network/network.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// A network whose messages beyond the eager limit of their connection ask the receiver first: they begin to move one
/// handshake after they were given, and what follows on the connection stays behind them. Handshakes overlap with
/// what moves meanwhile. All else is as in the network beneath, which also does the reporting.
class Rendezvous : public Network, public Actor {
 public:
  /// Has any connection a handshake?
  static bool is_needed(const MappedSchedule& mapped);

  /// Borrows all of them.
  Rendezvous(Simulator& simulator, const MappedSchedule& mapped, Network& beneath);

  void move(std::uint32_t connection, Bytes size) override;
  Bytes carried(std::uint32_t link) const override { return beneath_.carried(link); }
  void snapshot(std::vector<std::int64_t>& state) const override;
  void warp(Time by, std::int64_t times, const std::vector<Bytes>& carried_before) override;

  void on_event(std::uint64_t connection) override;

 private:
  struct Message {
    Bytes size;
    Time due;
  };

  Simulator& simulator_;
  const MappedSchedule& mapped_;
  Network& beneath_;
  ActorId id_;
  std::vector<std::deque<Message>> waiting_;  ///< of each connection, in their order
};

}  // namespace athanor
