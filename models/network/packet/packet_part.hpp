#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "models/network/packet/fast_forward.hpp"
#include "models/network/packet/hosts.hpp"
#include "models/network/packet/packet_links.hpp"
#include "models/network/packet/switches.hpp"
#include "models/network/packet/window_wheel.hpp"
#include "sim/event_queue.hpp"

namespace athanor {

/// Some of the devices of a packet network, with a clock of their own and all that they have still to do. Hosts act
/// event by event, at exact times; switches are worked off in windows (see Switches). What happens at one device at one
/// instant has an order of its own: first what arrives, by link, then ports that serve, timeouts, and receivers that
/// ask. So it does not matter which devices make up a part, nor which part goes first.
///
/// Parts reach each other by mail: what a device sends to another part is there when all parts have come to the end of
/// a window, before which it cannot arrive.
class PacketPart final : private LinkListener, private HostClock {
 public:
  /// Something that has happened, or will at `when`, and that concerns more than this part.
  enum class Call : std::uint8_t { injected, grain, delivered, timeout };
  struct Told {
    Time when;
    Call call = Call::injected;
    ConnectionId flow;
  };

  /// A part that has all devices. Borrows the plan. `window`: no longer than switches may be worked off in.
  PacketPart(const PacketTopology& plan, const TransportSpec& transport, std::uint64_t seed, Time window);
  /// A part of the network that `first` had as a whole, after divide().
  PacketPart(PacketPart& first, std::uint32_t number);
  PacketPart(const PacketPart&) = delete;
  PacketPart& operator=(const PacketPart&) = delete;

  /// From now on it is the first of so many parts. Before anything is sent. `window`: no longer than the latency of any
  /// link.
  void divide(std::uint32_t parts, Time window);
  std::uint32_t part_of(DeviceIndex device) const { return (*part_of_)[device]; }

  /// Settled traffic is skipped by `forward`, which knows this part alone. Borrows it.
  void skip_by(FastForward& forward) { forward_ = &forward; }

  Time now() const override { return now_; }
  /// Requires that nothing earlier is left to be done.
  void come_to(Time now) { now_ = std::max(now_, now); }

  /// When it has something to do; Time::max(): not before it is given something.
  Time next() const { return std::min(events_.empty() ? Time::max() : events_.top().when, alarm_time_); }
  /// The earliest event of its hosts is before that of another part.
  bool before(const PacketPart& other) const;
  /// Does the earliest thing that is to be done: all of a window at its switches, or one event of a host.
  void act();
  /// Works off the switches where that is due by now.
  void finish_window() {
    if (alarm_time_ <= now_) { work(); }
  }

  /// Begins a step at `now`: takes what other parts have sent in the step before. `turn` alternates.
  void collect(const std::vector<std::unique_ptr<PacketPart>>& parts, std::uint32_t turn, Time now);
  /// When something of what it has sent to others since has to be looked at; Time::max(): it has sent nothing.
  Time mail_due() const { return mail_due_; }

  /// What concerns others since it was last cleared.
  std::vector<Told>& told() { return told_; }
  /// Events of hosts so far.
  std::uint64_t acted() const { return acted_; }

  void arrive_at(LinkIndex link, Time when);
  /// The device shall work in the window of that time.
  void ask(DeviceIndex device, Time when);

  PacketLinks& links() { return links_; }
  const PacketLinks& links() const { return links_; }
  Switches& switches() { return switches_; }
  const Switches& switches() const { return switches_; }
  Hosts& hosts() { return hosts_; }
  const Hosts& hosts() const { return hosts_; }

 private:
  /// In the order in which they happen at one instant.
  enum class Kind : std::uint8_t { arrival, service, timeout, pull };
  struct Mail {
    std::vector<std::pair<LinkIndex, Flight>> flights;
    std::vector<std::pair<LinkIndex, Port::Pause>> pauses;
  };

  void expect_arrival(LinkIndex link, Time when) override;
  void expect_pause(LinkIndex link, Time when) override;
  void send_away(LinkIndex link, const Flight& flight) override;
  void pause_away(LinkIndex link, const Port::Pause& pause) override;
  void serve_at(LinkIndex link, Time when) override {
    if (forward_ != nullptr && FastForward::is_far(when)) { return; }  // thawing wakes it
    at(when, Kind::service, link.value);
  }
  void timeout_at(ConnectionId flow, Time when) override {
    if (forward_ != nullptr) { forward_->expect_timeout(flow, when); }
    at(when, Kind::timeout, flow.value);
  }
  void pull_at(LinkIndex link, Time when) override {
    if (forward_ != nullptr) { forward_->expect_pull(link, when); }
    at(when, Kind::pull, link.value);
  }
  void injected_at(ConnectionId flow, Time when) override { told_.push_back({when, Call::injected, flow}); }
  void delivered_at(ConnectionId flow, Time when) override { told_.push_back({when, Call::delivered, flow}); }
  void grain_arrived_at(ConnectionId flow, Time when) override { told_.push_back({when, Call::grain, flow}); }

  void at(Time when, Kind kind, std::uint32_t index) {
    events_.push({when, static_cast<std::uint64_t>(kind) << 32U | index, 0});
  }
  /// Mostly one of the next, found without a division.
  std::int64_t window_of(Time when) const {
    const Time since = when - begin_;
    if (since < Time::zero() || since >= window_ * 3) { return when.count() / window_.count(); }
    return working_ + (since >= window_ ? 1 : 0) + (since >= window_ + window_ ? 1 : 0);
  }
  void set_alarm(std::int64_t window);
  void work();
  void act_at_host(Kind kind, std::uint32_t index);
  bool wanted(Kind kind, std::uint32_t index);
  void arrive(LinkIndex link);
  void time_out(ConnectionId flow);
  Mail& mail_to(DeviceIndex device, Time when);

  Time window_;
  std::uint32_t number_ = 0;
  std::shared_ptr<IdVector<DeviceIndex, std::uint32_t>> part_of_;  ///< by device; nullptr: there is one part
  Time now_;
  EventQueue events_;
  WindowWheel wheel_;
  std::int64_t alarm_ = INT64_MAX;         ///< the earliest window in which switches may have to work
  Time alarm_time_ = Time::max();          ///< when it begins
  std::int64_t working_ = -1;              ///< the latest window that was worked off
  Time begin_;                             ///< of it
  std::vector<DeviceIndex> devices_;       ///< of a window
  std::vector<std::array<Mail, 2>> mail_;  ///< by part that it goes to, what is written in this step and the one before
  std::uint32_t turn_ = 0;
  Time mail_due_ = Time::max();
  std::vector<Told> told_;
  std::uint64_t acted_ = 0;
  PacketLinks links_;
  Switches switches_;
  Hosts hosts_;
  FastForward* forward_ = nullptr;
};

}  // namespace athanor
