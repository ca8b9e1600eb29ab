#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/network/packet/packet_counters.hpp"
#include "models/network/packet/packet_topology.hpp"
#include "models/network/packet/port.hpp"
#include "models/network/packet/ring.hpp"
#include "models/network/packet/telemetry.hpp"

namespace athanor {

/// A packet under way. `when`: its last bit arrives, or its first where the target is a switch that cuts through.
struct Flight {
  Time when;
  Packet packet;
};

/// Told that somebody at the far end has to look: at a packet that arrives, or at a pause that begins or ends.
class LinkListener {
 public:
  virtual ~LinkListener() = default;
  /// The first packet in flight on the link arrives at `when`; nothing was in flight before.
  virtual void expect_arrival(LinkIndex link, Time when) = 0;
  /// The source of the link learns at `when` that a class may go on or has to stop.
  virtual void expect_pause(LinkIndex link, Time when) = 0;
  /// As these, on a link that joins two parts of the network: what is to be told its other end, by PacketLinks::land()
  /// or PacketLinks::learn(), before that end comes to the time of it.
  virtual void send_away(LinkIndex link, const Flight& flight) = 0;
  virtual void pause_away(LinkIndex link, const Port::Pause& pause) = 0;
};

/// All links of a packet network: the port at the source of each, and what is in flight on it. The source of a link
/// uses its port, its target what is in flight on it.
class PacketLinks {
 public:
  /// Borrows both.
  PacketLinks(const PacketTopology& plan, LinkListener& listener);
  /// The links of another one, which lives longer, as a part of the network sees them that is told by `listener`.
  PacketLinks(PacketLinks& of, LinkListener& listener);

  /// The ends of the link are in two parts of the network. Before anything is sent.
  void set_crossing(LinkIndex link);
  bool crosses(LinkIndex link) const { return !crossing_.empty() && crossing_[link] != 0; }

  /// From now on what happens at each port is counted.
  void count_ports() { counters_.resize(plan_.links.size()); }
  /// What is counted at the port at the source of the link; nullptr where nothing is.
  PortCounters* counters(LinkIndex link) { return counters_.empty() ? nullptr : &counters_[link]; }
  const PortCounters* counters(LinkIndex link) const { return counters_.empty() ? nullptr : &counters_[link]; }

  /// From now on switches write telemetry into data packets; `packets`: see Telemetry.
  void write_telemetry(const IdVector<ConnectionId, std::uint32_t>& packets) {
    all_.telemetry = std::make_unique<Telemetry>(plan_, packets);
  }
  /// nullptr: none is written.
  Telemetry* telemetry() const { return all_.telemetry.get(); }

  const PacketTopology& plan() const { return plan_; }
  const PacketTopology::Link& link(LinkIndex link) const { return plan_.links[link]; }
  /// As the plan has them.
  DeviceIndex target(LinkIndex link) const { return crosses(link) ? plan_.links[link].target : lanes_[link].target; }
  bool leads_to_host(LinkIndex link) const {
    return crosses(link) ? plan_.devices[plan_.links[link].target].host : lanes_[link].to_host;
  }
  Port& port(LinkIndex link) { return ports_[link]; }
  const Port& port(LinkIndex link) const { return ports_[link]; }
  Ring<Flight>& flights(LinkIndex link) { return crosses(link) ? landed_[link].flights : lanes_[link].flights; }

  /// A packet whose last bit leaves at `end`. Requires that `end` never falls.
  void launch(LinkIndex link, const Packet& packet, Time end) {
    Lane& lane = lanes_[link];
    lane.last = end;
    const Time left = lane.cut_through ? end - ports_[link].duration(packet.bytes) : end;
    const Time when = left + lane.latency;
    if (packet.kind == PacketKind::data) {
      lane.carried += ports_[link].wire_bytes(packet.bytes);
    } else if (PortCounters* const counted = counters(link)) {
      counted->replies += ports_[link].wire_bytes(packet.bytes);
    }
    if (lane.crosses) { return listener_.send_away(link, {when, packet}); }
    take(lane.flights, link, {when, packet});
  }
  /// A packet is in flight to the target of a link that crosses.
  void land(LinkIndex link, const Flight& flight) { take(landed_[link].flights, link, flight); }
  /// The source of the link will be told of a pause.
  void learn(LinkIndex link, const Port::Pause& pause) {
    ports_[link].pause(pause);
    listener_.expect_pause(link, pause.when);
  }

  /// The target of the link tells its source, at `now`, that a class has to stop or may go on. The frame leaves by the
  /// reverse link when that is free.
  void signal(LinkIndex link, std::uint8_t service, bool stop, Time now) {
    const LinkIndex back = plan_.links[link].reverse;
    Port& port = ports_[back];
    const Time left = std::max(now, port.free()) + port.duration(kPauseFrame);
    port.hold(left);
    const Time when = left + plan_.links[back].latency;
    if (PortCounters* const counted = counters(link)) { counted->told(service, stop, when); }
    const Port::Pause pause{when, service, stop};
    return crosses(link) ? listener_.pause_away(link, pause) : learn(link, pause);
  }

  /// Does the link lead to a switch that gives credits?
  bool under_credits(LinkIndex link) const {
    const PacketTopology::Device& target = plan_.devices[plan_.links[link].target];
    return !target.host && plan_.switches[target.spec].flow_control == FlowControl::credits;
  }
  /// Blocks that each class has at the far end. Requires under_credits().
  std::uint32_t credits(LinkIndex link) const {
    const Bytes buffer = plan_.switches[plan_.devices[plan_.links[link].target].spec].lane_buffer;
    return static_cast<std::uint32_t>(std::min<std::int64_t>(buffer.count() / 64, INT32_MAX));
  }
  /// The target of the link tells its source, at `now`, up to which block a class may send. The flow control packet
  /// leaves by the reverse link when that is free.
  void grant(LinkIndex link, std::uint8_t service, std::uint32_t limit, Time now) {
    const LinkIndex back = plan_.links[link].reverse;
    Port& port = ports_[back];
    const Time left = std::max(now, port.free()) + transfer_time(Bytes{kCreditFrame}, plan_.links[back].rate);
    port.hold(left);
    const Time when = left + plan_.links[back].latency;
    const Port::Pause pause{when, service, false, limit};
    if (crosses(link)) { return listener_.pause_away(link, pause); }
    const bool waited_for = plan_.devices[plan_.links[link].source].host || !ports_[link].idle();
    ports_[link].pause(pause);
    if (waited_for) { listener_.expect_pause(link, when); }
  }

  /// The link that a packet takes next.
  LinkIndex next_hop(const Packet& packet) const { return plan_.hops[packet.hop]; }
  /// Has it arrived where it was going?
  bool at_end(const Packet& packet) const {
    const PacketTopology::Flow& flow = plan_.flows[packet.flow];
    if (packet.kind != PacketKind::data) { return packet.hop == flow.first_hop_back + flow.hops_back; }
    if (flow.paths == 1) { return packet.hop == flow.first_hop + flow.hops; }
    return (packet.hop - flow.first_hop) % flow.hops == 0;  // it has taken the first hop of its path already
  }
  /// Memory is far on large fabrics. Bring near what is in flight on a link, in two steps; and what a packet that goes
  /// on by a link will touch, in two steps.
  void approach_arriving(LinkIndex link) const {
    __builtin_prefetch(crosses(link) ? static_cast<const void*>(&landed_[link]) : &lanes_[link]);
  }
  void approach_flights(LinkIndex link) { flights(link).approach_front(); }
  void approach(LinkIndex link, std::uint8_t service) const {
    ports_[link].approach();
    ports_[link].approach_queue(service);
    __builtin_prefetch(&lanes_[link]);
  }
  void approach_places(LinkIndex link, std::uint8_t service) const {
    ports_[link].approach_place(service);
    lanes_[link].flights.approach_end();
  }
  /// On the wire, by data packets, all headers included.
  Bytes carried(LinkIndex link) const { return Bytes{lanes_[link].carried}; }
  /// All that is in flight on a link, and all that its port does, comes so much later (earlier, below zero).
  void delay(LinkIndex link, Time by) {
    ports_[link].delay(by);
    Lane& lane = lanes_[link];
    lane.last += by;
    for (std::uint32_t k = 0; k < lane.flights.size(); ++k) { lane.flights.at(k).when += by; }
  }
  /// Calls each(packet) for all that wait for the link, or are in flight on it.
  template <class Each>
  void for_packets(LinkIndex link, const Each& each) {
    ports_[link].for_waiting(each);
    Ring<Flight>& flights = lanes_[link].flights;
    for (std::uint32_t k = 0; k < flights.size(); ++k) { each(flights.at(k).packet); }
  }
  /// So many data packets of a size have passed that were not simulated.
  void carry(LinkIndex link, std::uint32_t packets, std::uint32_t bytes) {
    lanes_[link].carried += std::int64_t{packets} * ports_[link].wire_bytes(bytes);
  }
  /// When the last packet of all links, of whatever kind, had left.
  Time quiet() const {
    Time last;
    for (const Lane& lane : lanes_) { last = std::max(last, lane.last); }
    return last;
  }

 private:
  static constexpr std::uint32_t kPauseFrame = 64;  ///< bytes
  static constexpr std::uint32_t kCreditFrame = 8;  ///< bytes

  void take(Ring<Flight>& flights, LinkIndex link, const Flight& flight) {
    const bool first = flights.empty();
    flights.push(flight);
    if (first) { listener_.expect_arrival(link, flight.when); }
  }

  /// What is in flight on a link, and what every launch has to know, in one cache line.
  struct alignas(64) Lane {
    Ring<Flight> flights;
    std::int64_t carried = 0;
    Time last;  ///< bit that left
    Time latency;
    DeviceIndex target;
    bool to_host = false;
    bool cut_through = false;  ///< leads to a switch that sends packets on while they arrive
    bool crosses = false;      ///< joins two parts of the network
  };
  /// What is in flight on a link that crosses: its source and its target, on two threads, touch no line of each other.
  struct alignas(64) Landed {
    Ring<Flight> flights;
  };
  /// What all parts share.
  struct All {
    IdVector<LinkIndex, std::uint8_t> crossing;  ///< empty: there is one part
    IdVector<LinkIndex, Landed> landed;
    IdVector<LinkIndex, Port> ports;
    IdVector<LinkIndex, Lane> lanes;
    IdVector<LinkIndex, PortCounters> counters;  ///< empty: nothing is counted
    std::unique_ptr<Telemetry> telemetry;
  };

  const PacketTopology& plan_;
  LinkListener& listener_;
  std::unique_ptr<All> own_;  ///< nullptr: another one has them
  All& all_;
  IdVector<LinkIndex, Port>& ports_;
  IdVector<LinkIndex, Lane>& lanes_;
  IdVector<LinkIndex, PortCounters>& counters_;
  IdVector<LinkIndex, std::uint8_t>& crossing_;
  IdVector<LinkIndex, Landed>& landed_;
};

/// Links whose ports wait for each other for ever: each was stopped by a buffer whose packets of that class all wait at
/// ports that were stopped likewise, and nobody was told to go on. A circle, each link waiting for the next one and the
/// last for the first; empty: something will move, or nothing waits. Of several circles the one through the lowest
/// link. O(links + waiting packets), times the length of what only seems to wait.
std::vector<LinkIndex> waiting_circle(const PacketLinks& links);

}  // namespace athanor
