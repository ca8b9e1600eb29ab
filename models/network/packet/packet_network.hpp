#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/network/network.hpp"
#include "models/network/packet/fast_forward.hpp"
#include "models/network/packet/hosts.hpp"
#include "models/network/packet/packet_links.hpp"
#include "models/network/packet/switches.hpp"
#include "models/network/packet/window_wheel.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// A network of packets. Hosts act event by event, at exact times; switches are worked off in windows that are as
/// long as the least latency of a link (see Switches), which gives the same results.
class PacketNetwork final : public Network,
                            public Actor,
                            private LinkListener,
                            private HostClock,
                            private FastForwardClock {
 public:
  /// Borrows all of them. Requires links of at least PacketTopology::kLeastLatency. `most_window`: windows are no
  /// longer than this; changes no result, for checking that.
  PacketNetwork(Simulator& simulator, const PacketTopology& plan, const TransportSpec& transport, std::uint64_t seed,
                MoveListener& listener, Time most_window = Time::max());

  /// From now on traffic that has settled is skipped, with about so much error of a flow's time (FastForward). Requires
  /// `bound` > 0, and that nothing is moved yet. Counters of switches and hosts are those of what is simulated.
  void skip_settled(Ratio bound);
  /// How errors name a link; before, by its number.
  void name_links(std::function<std::string(LinkIndex)> name) { name_ = std::move(name); }

  /// Events that follow may throw SimulationError("deadlock"), which names links whose ports wait for each other in a
  /// circle. It is found out when a sender's timeout ends.
  void move(ConnectionId connection, Bytes size) override;
  std::optional<Bytes> arrived(ConnectionId connection) const override {
    return forward_ ? forward_->arrived(connection) : hosts_.arrived(connection);
  }
  /// On the wire: by data packets with their headers, repeated ones too.
  Bytes carried(LinkIndex link) const override { return links_.carried(link); }
  Time quiet() const { return links_.quiet(); }
  /// Not supported: the state of a packet network never recurs exactly.
  void snapshot(std::vector<std::int64_t>& state) const override;
  void fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) override;

  void on_event(std::uint64_t what) override;

  /// From now on what happens at each port is counted.
  void count_ports() { links_.count_ports(); }
  /// Of the port at the source of a link, with a pause that has not ended counted up to `now`. Requires count_ports().
  PortCounters port_counters(LinkIndex link, Time now) const;

  const SwitchCounters& switch_counters() const { return switches_.counters(); }
  const HostCounters& host_counters() const { return hosts_.counters(); }
  /// nullptr: nothing is skipped.
  const SkipCounters* skip_counters() const { return forward_ ? &forward_->counters() : nullptr; }

 private:
  enum class Kind : std::uint8_t {
    window,
    arrival,
    service,
    timeout,
    pull,
    injected,
    delivered,
    grain,
    look,
    thaw,
    milestone,
  };

  void expect_arrival(LinkIndex link, Time when) override;
  void expect_pause(LinkIndex link, Time when) override;
  Time now() const override { return simulator_.now(); }
  void serve_at(LinkIndex link, Time when) override {
    if (forward_ && FastForward::is_far(when)) { return; }  // thawing wakes it
    at(when, Kind::service, link.value);
  }
  void timeout_at(ConnectionId flow, Time when) override {
    if (forward_) { forward_->expect_timeout(flow, when); }
    at(when, Kind::timeout, flow.value);
  }
  void pull_at(LinkIndex link, Time when) override {
    if (forward_) { forward_->expect_pull(link, when); }
    at(when, Kind::pull, link.value);
  }
  void injected_at(ConnectionId flow, Time when) override { at(when, Kind::injected, flow.value); }
  void delivered_at(ConnectionId flow, Time when) override { at(when, Kind::delivered, flow.value); }
  void grain_arrived_at(ConnectionId flow, Time when) override { at(when, Kind::grain, flow.value); }

  void look_at(Time when) override { at(when, Kind::look, 0); }
  void thaw_at(std::uint32_t part, Time when) override { at(when, Kind::thaw, part); }
  void milestone_at(ConnectionId flow, Time when) override { at(when, Kind::milestone, flow.value); }
  void arrive_at(LinkIndex link, Time when) override;
  void work_at(DeviceIndex device, Time when) override { ask(device, when); }
  void finish_window() override;

  void at(Time when, Kind kind, std::uint32_t index) {
    simulator_.at(when, self_, std::uint64_t{index} << 8U | static_cast<std::uint64_t>(kind));
  }
  /// Mostly one of the next, found without a division.
  std::int64_t window_of(Time when) const {
    const Time since = when - begin_;
    if (since < Time::zero() || since >= window_ * 3) { return when.count() / window_.count(); }
    return working_ + (since >= window_ ? 1 : 0) + (since >= window_ + window_ ? 1 : 0);
  }
  bool wanted(Kind kind, std::uint32_t index);
  void arrive(LinkIndex link);
  void move_within_device(ConnectionId flow, Bytes size);
  void ask(DeviceIndex device, Time when);
  void work();
  void time_out(ConnectionId flow);
  void refuse_deadlock() const;

  Simulator& simulator_;
  MoveListener& listener_;
  ActorId self_;
  Time window_;
  WindowWheel wheel_;
  std::int64_t alarm_ = INT64_MAX;  ///< the earliest window for which an event is pending
  std::int64_t working_ = -1;       ///< the latest window that was worked off
  Time begin_;                      ///< of it
  Time search_interval_;            ///< between two searches for a deadlock
  Time next_search_;
  std::function<std::string(LinkIndex)> name_;
  std::vector<DeviceIndex> devices_;
  IdVector<ConnectionId, Time> free_;  ///< by flow: when a flow without hops has copied all that it was given
  PacketLinks links_;
  Switches switches_;
  Hosts hosts_;
  std::unique_ptr<FastForward> forward_;
};

}  // namespace athanor
