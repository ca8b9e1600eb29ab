#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "models/network/network.hpp"
#include "models/network/packet/packet_counters.hpp"
#include "models/network/packet/packet_links.hpp"
#include "models/network/packet/settling.hpp"
#include "models/network/packet/transport.hpp"

namespace athanor {

/// Wakes hosts at times of their own.
class HostClock {
 public:
  virtual ~HostClock() = default;
  virtual Time now() const = 0;
  /// Hosts::serve(link) shall be called at `when`, or earlier.
  virtual void serve_at(LinkIndex link, Time when) = 0;
  virtual void timeout_at(ConnectionId flow, Time when) = 0;
  /// Hosts::pull(link) shall be called at `when`.
  virtual void pull_at(LinkIndex link, Time when) = 0;
  /// The listener shall hear injected() or delivered() of the flow at `when`.
  virtual void injected_at(ConnectionId flow, Time when) = 0;
  virtual void delivered_at(ConnectionId flow, Time when) = 0;
  virtual void grain_arrived_at(ConnectionId flow, Time when) = 0;
};

/// The hosts of a packet network: they cut messages into packets, send them as window, pacing and the port allow, in
/// turn where several flows could send, acknowledge what arrives, and send again from what is missing on (go-back-N, as
/// RoCE and InfiniBand reliable connections do) or only that (selective).
class Hosts {
 public:
  /// `seed`: of what hosts draw.
  Hosts(PacketLinks& links, const TransportSpec& spec, std::uint64_t seed, HostClock& clock);
  /// The hosts of another one, which lives longer, as a part of the network sees them that acts at some of them, with a
  /// clock and counters of its own. After foresee().
  Hosts(Hosts& of, PacketLinks& links, HostClock& clock);

  /// One more message of the flow, which has hops.
  void send(ConnectionId flow, Bytes size);
  /// Whatever has arrived by a link at this instant.
  void arrive(LinkIndex link);
  /// The port of a link may be free, or something may be ready to be sent.
  void serve(LinkIndex link);
  void timeout(ConnectionId flow);
  /// The receiver at the end of a link may ask for the next packet.
  void pull(LinkIndex link);

  const HostCounters& counters() const { return counters_; }

  /// From now on earliest_call() may be asked about spans up to `window`. Before any message.
  void foresee(Time window);
  /// Until when nothing that happens at hosts of this part causes injected_at, delivered_at or grain_arrived_at, from
  /// now on and before `end`, which is at most a window later: then it is `end`. For the receivers of messages what is
  /// in flight to them has to be known up to `end`.
  Time earliest_call(Time end);
  /// More has been given to a flow that is received at this part.
  void watch_arriving(ConnectionId flow);

  // For FastForward, of flows that have stopped for a while. Packets count from where they stopped.
  /// Has it something that is not acknowledged?
  bool busy(ConnectionId flow) const { return senders_[flow].acknowledged != senders_[flow].end; }
  FlowSample sample(ConnectionId flow) const;
  /// Packets that it could deliver before it has nothing new to send.
  std::uint32_t supply(ConnectionId flow) const;
  /// As send(), of a flow that has stopped.
  void append(ConnectionId flow, Bytes size);
  /// After how many packets there is something to be told of a message; none: never, of what it has to send.
  std::optional<std::uint32_t> next_milestone(ConnectionId flow) const;
  /// As arrived(), once so many packets have come.
  Bytes arrived_after(ConnectionId flow, std::uint32_t packets) const;
  /// Tells all that lies within so many packets.
  void tell(ConnectionId flow, std::uint32_t packets);
  /// So much time and so many packets were skipped, of which everything has been told. The flow goes on, once those
  /// that share its ports do.
  void skip(ConnectionId flow, Time by, std::uint32_t packets);
  void skip_at(LinkIndex link, Time by);
  /// Flows and ports go on.
  void resume(ConnectionId flow);
  void resume_at(LinkIndex link);
  /// Calls each(packets, bytes of each) for the next so many packets that it has to send, by their sizes.
  template <class Each>
  void for_supply(ConnectionId flow, std::uint32_t packets, const Each& each) const {
    const Sender& sender = senders_[flow];
    const auto header = static_cast<std::uint32_t>(spec_.header.count());
    std::uint32_t from = sender.fresh;
    const std::uint32_t end = from + packets;
    for (std::uint32_t m = 0; from < end; ++m) {
      const Sender::Message& message = sender.messages.at(m);
      if (message.end <= from) { continue; }
      const std::uint32_t to = std::min(message.end, end);
      const std::uint32_t last = to == message.end ? 1 : 0;
      each(to - from - last, full_packet_);
      each(last, message.last_payload + header);
      from = to;
    }
  }
  /// On the wire but for framing.
  std::uint32_t full_packet() const { return full_packet_; }
  /// As Network::arrived.
  Bytes arrived(ConnectionId flow) const { return Bytes{receivers_[flow].arrived}; }

 private:
  struct alignas(64) Receiver {
    std::uint32_t highest = 0;  ///< selective: packets before this one have arrived or were told to be missing
    bool marked = false;        ///< a packet since the last acknowledgement
    std::uint32_t granted = 0;  ///< pull: packets that the sender may send in all, the first window included
    std::uint32_t needed = 0;   ///< pull: packets that it has to send in all, those that were lost or trimmed twice
    std::uint32_t expected = 0;
    std::uint32_t unacknowledged = 0;  ///< packets that arrived since the last acknowledgement
    Time next_notice;                  ///< no congestion notice earlier
    std::int64_t arrived = 0;          ///< payload of the message that is arriving
    bool missing_told = false;         ///< a negative acknowledgement of `expected` is out
    bool grain_told = false;           ///< of the message that is arriving
    bool closing = false;              ///< stands among those of which earliest_call() knows
    std::uint32_t ahead = 0;           ///< selective: packets beyond `expected` that have arrived
    Time latest;                       ///< when the last packet in order came
    Ring<Sender::Message> messages;    ///< that have not arrived wholly, the oldest first
    Marks there;                       ///< selective: packets that have arrived
  };
  struct Paced {
    Time when;
    ConnectionId flow;
    bool operator>(const Paced& other) const { return when != other.when ? when > other.when : flow > other.flow; }
  };
  /// Who is to be asked for packets that come by a link, in turn.
  struct Inlet {
    Ring<ConnectionId> flows;
    Time next;  ///< the earliest that the next may be asked
    bool due = false;
  };
  /// Who sends by a port.
  struct alignas(64) Outlet {
    Ring<ConnectionId> ready;  ///< flows, in turn
    std::priority_queue<Paced, std::vector<Paced>, std::greater<>> paced;
    Time service_due = Time::max();  ///< serve_at was asked for
  };

  LinkIndex first_link(ConnectionId flow) const { return links_.plan().hops[links_.plan().flows[flow].first_hop]; }
  LinkIndex last_link(ConnectionId flow) const {
    const PacketTopology::Flow& plan = links_.plan().flows[flow];
    return links_.plan().hops[plan.first_hop + plan.hops - 1];
  }
  bool selective() const { return spec_.recovery == TransportSpec::Recovery::selective; }
  bool may_send(const Sender& sender) const {
    return (sender.next != sender.end || !sender.repeats.empty()) && sender.outstanding < sender.window &&
           (!pulled_ || sender.credit > 0);
  }
  void add_message(ConnectionId flow, Bytes size);
  std::uint32_t arriving_begin(const Receiver& receiver) const;
  std::uint32_t next_told(ConnectionId flow, const Receiver& receiver) const;
  void watch_leaving(ConnectionId flow);
  std::optional<Time> earliest_injection(ConnectionId flow);
  std::optional<Time> earliest_arrival(ConnectionId flow, Time end);
  template <class Each>
  void for_last_links(ConnectionId flow, const Each& each) const;
  void queue_up(ConnectionId flow);
  Time jitter(ConnectionId flow) const;
  void line_up(ConnectionId flow, LinkIndex link, Time now);
  void request_service(LinkIndex link, Time when);
  bool pick(Outlet& outlet, Time now, ConnectionId& flow);
  void send_packet(ConnectionId flow, LinkIndex link);
  bool next_number(Sender& sender, std::uint32_t& number) const;
  std::uint32_t payload(const Sender& sender, std::uint32_t number) const;
  std::uint32_t path_of(ConnectionId flow, std::uint32_t number) const;
  void note_sent(ConnectionId flow, Sender& sender, std::uint32_t number, Time end);
  void arm(ConnectionId flow, Sender& sender);
  void pass_on(Packet packet);
  void enqueue(LinkIndex link, const Packet& packet);
  Time capped(ConnectionId flow, std::uint32_t bytes, Time start) const;
  void receive_data(ConnectionId flow, const Packet& packet);
  void receive_in_order(ConnectionId flow, Receiver& receiver, const Packet& packet);
  void receive_in_any_order(ConnectionId flow, Receiver& receiver, const Packet& packet);
  bool accept(ConnectionId flow, Receiver& receiver);
  void reply(const Packet& to, PacketKind kind, std::uint32_t number, bool marked);
  void receive_reply(ConnectionId flow, const Packet& packet);
  std::uint32_t note_acknowledged(Sender& sender, const Packet& packet);
  void missing(ConnectionId flow, const Packet& packet);
  void grant_first_window(ConnectionId flow);
  void grant_repeats(ConnectionId flow);
  void ask_for_more(ConnectionId flow, const Packet& packet);
  CongestionControl::Progress progress(const Sender& sender, std::uint32_t packet) const;
  void set_window(ConnectionId flow);
  void forget_acknowledged(Sender& sender);
  void go_back(ConnectionId flow, std::uint32_t to);

  PacketLinks& links_;
  TransportSpec spec_;
  std::uint64_t seed_;
  HostClock& clock_;
  bool pulled_;                          ///< receivers ask for packets
  std::optional<Time> notice_interval_;  ///< of receivers that tell senders of marks; none: they do not
  /// What all parts share.
  struct All {
    std::unique_ptr<CongestionControl> control;
    IdVector<ConnectionId, Sender> senders;
    IdVector<ConnectionId, Receiver> receivers;
    IdVector<LinkIndex, Inlet> inlets;  ///< pull only
    IdVector<LinkIndex, Outlet> outlets;
    Time window;                                  ///< of foresee()
    IdVector<LinkIndex, std::uint32_t> near_end;  ///< full packets that a link carries in it, and more
  };

  std::uint32_t full_packet_;               ///< bytes
  std::uint32_t most_window_ = UINT32_MAX;  ///< packets
  bool foresees_ = false;
  std::unique_ptr<All> own_;  ///< nullptr: another one has them
  All& all_;
  CongestionControl* control_ = nullptr;
  IdVector<ConnectionId, Sender>& senders_;
  IdVector<ConnectionId, Receiver>& receivers_;
  IdVector<LinkIndex, Inlet>& inlets_;
  IdVector<LinkIndex, Outlet>& outlets_;
  std::vector<ConnectionId> ending_;   ///< flows sent from here that may come to the end of a message within a window
  std::vector<ConnectionId> closing_;  ///< received here, of which there may be something to be told within a window
  HostCounters counters_;
};

}  // namespace athanor
