#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/network/packet/hosts.hpp"
#include "models/network/packet/network_parts.hpp"
#include "models/network/packet/packet_counters.hpp"
#include "models/network/packet/packet_links.hpp"
#include "models/network/packet/settling.hpp"
#include "models/network/packet/switches.hpp"

namespace athanor {

/// Wakes a FastForward, and the network when something goes on.
class FastForwardClock {
 public:
  virtual ~FastForwardClock() = default;
  virtual Time now() const = 0;
  virtual void look_at(Time when) = 0;
  virtual void thaw_at(std::uint32_t part, Time when) = 0;
  virtual void milestone_at(ConnectionId flow, Time when) = 0;
  /// Hosts::arrive(link) shall be called at `when`.
  virtual void arrive_at(LinkIndex link, Time when) = 0;
  /// Switches::work(device) shall be called in the window that begins at `when`.
  virtual void work_at(DeviceIndex device, Time when) = 0;
  /// Switches are to have done what is due in the window that begins now.
  virtual void finish_window() = 0;
};

/// Skips what has settled. Flows that share ports are a part of the network, which depends on nothing outside it. Where
/// the rates of a part have settled (SettlingHistory), it is frozen: what is in flight, in queues and in timers stays
/// as it is, while the flows deliver at their rates; messages that end meanwhile are told of in time. It thaws shortly
/// before a flow has nothing more to send, and as soon as another flow begins to send by one of its ports: then all
/// that stood goes on as if no time had passed, with the numbers of packets moved.
///
/// What is lost: how rates would have changed by themselves while the part stood. SettlingHistory bounds that from what
/// was seen; a sample of all skips is held against what the same flows really did for half as long again as the
/// sample lasted from which their rates are (SkipCounters).
class FastForward {
 public:
  /// What a frozen part has still to do comes so late. A multiple of no window in particular.
  static constexpr Time kFar{std::int64_t{1} << 61U};
  static constexpr bool is_far(Time when) { return when.count() >= kFar.count() / 2; }

  /// `window`: see Switches. `bound`: most error of a rate, above 0.
  FastForward(PacketLinks& links, Hosts& hosts, Switches& switches, FastForwardClock& clock, Time window, double bound);

  /// Something will be sent over a flow. True where the flow is frozen, and stays so.
  bool begins(ConnectionId flow);
  /// Looks at all flows; every part that has settled is frozen.
  void look();
  void thaw_due(std::uint32_t part);
  void milestone(ConnectionId flow);
  /// As Network::arrived.
  Bytes arrived(ConnectionId flow) const;

  /// May an event go ahead that was asked for? Not one of what is frozen, nor one that was asked for before that.
  bool arrives(LinkIndex link);
  bool serves(LinkIndex link) const { return part_of_link_[link] == kNone; }
  bool pulls(LinkIndex link);
  bool times_out(ConnectionId flow);
  void expect_arrival(LinkIndex link, Time when) { arrival_due_[link] = when; }
  void expect_pull(LinkIndex link, Time when) { pull_due_[link] = when; }
  void expect_timeout(ConnectionId flow, Time when) { timeout_due_[flow] = when; }

  const SkipCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Part {
    Part(std::vector<ConnectionId> of, SettlingHistory seen, Time now)
        : flows(std::move(of)), history(std::move(seen)), next_row(now) {}

    /// What flows did before says nothing of what they will do.
    void forget() {
      history.clear();
      checking = false;
    }

    std::vector<ConnectionId> flows;
    SettlingHistory history;
    Time next_row;
    std::optional<std::uint64_t> pattern;  ///< NetworkParts::pattern_of, once it was asked for
    // A check of what would have been skipped.
    bool checking = false;
    Time check_end;
    std::vector<FlowSample> check_begin;
    std::vector<PacketRate> foretold;
    // While it is frozen.
    bool frozen = false;
    Time since;
    Time until;   ///< thaw_at was asked for
    Time budget;  ///< of `until`
    std::vector<PacketRate> rates;
    std::vector<LinkIndex> links;
  };

  static Time rounded_up(Time time, Time to) { return to * ((time + to - Time{1}).count() / to.count()); }
  void drop_finished();
  void divide();
  std::uint32_t add_part(std::vector<ConnectionId> flows);
  void look_at(std::uint32_t number);
  void row(Part& part);
  std::uint64_t pattern_of(Part& part) const;
  std::optional<SettlingHistory::Settled> settled(Part& part);
  bool check(Part& part, const SettlingHistory::Settled& settled);
  void keep_to_ports(const Part& part, std::vector<PacketRate>& rates) const;
  Time until(const Part& part) const;
  void freeze(std::uint32_t number, const SettlingHistory::Settled& settled);
  void thaw(std::uint32_t number);
  void move_packets(const Part& part, Time by, const std::vector<std::uint32_t>& packets);
  void resume(const Part& part, Time begin);
  void ask_for_milestone(const Part& part, std::size_t place);
  Time row_distance(const std::vector<ConnectionId>& flows) const;
  void look_later();

  PacketLinks& links_;
  Hosts& hosts_;
  Switches& switches_;
  FastForwardClock& clock_;
  Time quantum_;  ///< of skips: the window of switches
  Time period_;   ///< of looks
  double bound_;
  NetworkParts dividing_;
  std::vector<ConnectionId> active_;  ///< in order; those that have begun since the last look behind them
  bool changed_ = false;              ///< flows have begun or ended since the parts were last found
  bool looking_ = false;              ///< look_at was asked for
  std::uint32_t periods_ = 1;         ///< to the next look
  std::uint32_t fruitless_ = 1;       ///< what it will be, where no part is older than the last look
  std::uint64_t decisions_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;
  std::unordered_map<std::uint64_t, std::vector<PacketRate>> known_;  ///< by pattern: rates at which it has settled
  std::vector<std::uint32_t> free_;
  IdVector<ConnectionId, std::uint32_t> part_of_;  ///< kNone: has not been looked at
  IdVector<ConnectionId, std::uint32_t> place_;    ///< in its part
  IdVector<ConnectionId, std::uint8_t> is_active_;
  IdVector<ConnectionId, Time> began_;
  IdVector<ConnectionId, std::uint32_t> skipped_;    ///< scratch of a thaw: packets
  IdVector<LinkIndex, std::uint32_t> part_of_link_;  ///< the part that is frozen
  IdVector<LinkIndex, Time> arrival_due_, pull_due_;
  IdVector<ConnectionId, Time> timeout_due_, milestone_due_;
  SkipCounters counters_;
};

}  // namespace athanor
