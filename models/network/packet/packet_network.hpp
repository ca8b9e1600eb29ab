#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/network/network.hpp"
#include "models/network/packet/fast_forward.hpp"
#include "models/network/packet/packet_part.hpp"
#include "models/network/packet/team.hpp"
#include "models/network/packet/thread_choice.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// A network of packets. Hosts act event by event, at exact times; switches are worked off in windows that are as
/// long as the least latency of a link (see Switches), which gives the same results.
///
/// What happens in it before anything else does is not brought before the simulator event by event: the network goes
/// ahead of the simulator's clock up to its next event. On several threads each has a part of the network (PacketPart),
/// and all go ahead together, up to the end of a window, or to where a listener may have to be called if that is
/// earlier. That changes no result.
class PacketNetwork final : public Network, public Actor, private FastForwardClock {
 public:
  /// How it is simulated.
  struct Pace {
    Time most_window = Time::max();  ///< windows are no longer than this
    std::uint32_t threads = 1;       ///< at most, at least 1: see threads()
    bool eager = false;              ///< they work together even where one alone would be faster, for checking
  };
  /// Borrows all of them. Requires links of at least PacketTopology::kLeastLatency. `pace` changes no result.
  PacketNetwork(Simulator& simulator, const PacketTopology& plan, const TransportSpec& transport, std::uint64_t seed,
                MoveListener& listener, Pace pace);
  PacketNetwork(Simulator& simulator, const PacketTopology& plan, const TransportSpec& transport, std::uint64_t seed,
                MoveListener& listener)
      : PacketNetwork(simulator, plan, transport, seed, listener, Pace{}) {}

  /// From now on traffic that has settled is skipped, with about so much error of a flow's time (FastForward). Requires
  /// `bound` > 0, threads() == 1, and that nothing is moved yet. Counters of switches and hosts are those of what is
  /// simulated.
  void skip_settled(Ratio bound);
  /// How errors name a link; before, by its number.
  void name_links(std::function<std::string(LinkIndex)> name) { name_ = std::move(name); }

  /// Threads that it uses: one where the control of the transport does not keep to hosts (ControlWords).
  std::uint32_t threads() const { return static_cast<std::uint32_t>(parts_.size()); }

  /// Events that follow may throw SimulationError("deadlock"), which names links whose ports wait for each other in a
  /// circle. It is found out soon after a sender's timeout ends.
  void move(ConnectionId connection, Bytes size) override;
  std::optional<Bytes> arrived(ConnectionId connection) const override {
    return forward_ ? forward_->arrived(connection) : first().hosts().arrived(connection);
  }
  /// On the wire: by data packets with their headers, repeated ones too.
  Bytes carried(LinkIndex link) const override { return first().links().carried(link); }
  Time quiet() const { return first().links().quiet(); }
  /// Not supported: the state of a packet network never recurs exactly.
  void snapshot(std::vector<std::int64_t>& state) const override;
  void fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) override;

  void on_event(std::uint64_t what) override;

  /// From now on what happens at each port is counted.
  void count_ports() { first().links().count_ports(); }
  /// Of the port at the source of a link, with a pause that has not ended counted up to `now`. Requires count_ports().
  PortCounters port_counters(LinkIndex link, Time now) const;

  SwitchCounters switch_counters() const;
  HostCounters host_counters() const;
  /// nullptr: nothing is skipped.
  const SkipCounters* skip_counters() const { return forward_ ? &forward_->counters() : nullptr; }

 private:
  /// Those up to `timed_out` come in this order at one instant, behind whatever else happens at it, and `wake` last.
  enum class Kind : std::uint8_t { injected, grain, delivered, timed_out, look, thaw, milestone, wake };
  /// What all threads do together: from `from` on, and not beyond `end`.
  struct Step {
    Time from;
    Time end;
    std::uint32_t turn = 0;
    Time least;    ///< if nobody can act up to this, nobody acts
    Time reached;  ///< before which all hosts have acted
  };
  /// Of one thread in a step.
  struct alignas(64) Progress {
    Time may_go_to;
    std::exception_ptr failure;
  };

  /// The simulator is behind while hosts act, and before them when anybody else does.
  Time now() const override { return std::max(first().now(), simulator_.now()); }
  void look_at(Time when) override { at(when, Kind::look, 0); }
  void thaw_at(std::uint32_t part, Time when) override { at(when, Kind::thaw, part); }
  void milestone_at(ConnectionId flow, Time when) override { at(when, Kind::milestone, flow.value); }
  void arrive_at(LinkIndex link, Time when) override { first().arrive_at(link, when); }
  void work_at(DeviceIndex device, Time when) override { first().ask(device, when); }
  void finish_window() override { first().finish_window(); }

  PacketPart& first() { return *parts_.front(); }
  const PacketPart& first() const { return *parts_.front(); }
  PacketPart& part_at(DeviceIndex host) { return threads() == 1 ? first() : *parts_[first().part_of(host)]; }
  DeviceIndex sender(ConnectionId flow) const;
  DeviceIndex receiver(ConnectionId flow) const;
  void at(Time when, Kind kind, std::uint32_t index);
  void divide(std::uint32_t threads);
  void move_within_device(ConnectionId flow, Bytes size);
  void wake_at(Time when);
  void wake_when_due();
  Time due() const;
  void go_on();
  void go_alone(Time until);
  void go_together(Time from, Time until);
  bool gains_together();
  void take_step(std::uint32_t number);
  void take_step_alone(Time until);
  Time tell(PacketPart& part);
  void look_for_deadlock();

  Simulator& simulator_;
  MoveListener& listener_;
  ActorId self_;
  Time window_;
  bool eager_;
  Time wake_ = Time::max();  ///< the earliest Kind::wake that is pending
  Time search_delay_;        ///< after a timeout
  Time search_interval_;     ///< between two searches for a deadlock
  Time next_search_;
  std::function<std::string(LinkIndex)> name_;
  IdVector<ConnectionId, Time> free_;  ///< by flow: when a flow without hops has copied all that it was given
  std::vector<std::unique_ptr<PacketPart>> parts_;
  std::unique_ptr<FastForward> forward_;
  // On several threads.
  std::unique_ptr<Team> team_;
  std::function<void(std::uint32_t)> take_step_;
  Step step_;
  std::vector<Progress> progress_;
  ThreadChoice choice_;
  std::uint64_t acted_ = 0;      ///< events of hosts up to the last full window
  std::uint64_t in_window_ = 0;  ///< events of hosts in it
  std::int64_t counted_ = 0;     ///< windows that have begun
};

}  // namespace athanor
