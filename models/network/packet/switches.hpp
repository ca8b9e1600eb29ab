#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/network/packet/packet_counters.hpp"
#include "models/network/packet/packet_links.hpp"
#include "models/network/packet/turns.hpp"

namespace athanor {

/// The switches of a packet network: shared buffers, queues at the outputs, ECN marks, pauses and credits, and which of
/// several paths packets take.
///
/// Nothing travels from device to device in less than the least latency of a link. So within a window of time as long
/// as that a switch depends on nothing that others do in it: each works off all that arrives in the window at once, in
/// order of time and link, and no event is needed for a single packet.
class Switches {
 public:
  Switches(PacketLinks& links, std::uint64_t seed);
  /// The switches of another one, which lives longer, as a part of the network sees them that works at some of them
  /// (with what it counts, and what it needs while it works).
  Switches(Switches& of, PacketLinks& links);

  /// A packet is in flight on a link to this switch, on which none was.
  void expect(LinkIndex link);
  /// Bring near what work() will touch first, in four steps.
  void approach(DeviceIndex device) const { __builtin_prefetch(&devices_[device]); }
  void approach_lists(DeviceIndex device) const;
  void approach_links(DeviceIndex device) const;
  void approach_packets(DeviceIndex device) const;
  /// All that happens at one switch before `end`. Returns when it has to work again: Time::max(): not before
  /// something new arrives.
  Time work(DeviceIndex device, Time end);

  const SwitchCounters& counters() const { return counters_; }

  /// So much time was skipped for a flow.
  void skip(ConnectionId flow, Time by) {
    if (!flowlets_.empty()) { flowlets_[flow].last += by; }
  }

 private:
  struct alignas(64) Ingress {
    std::array<std::int64_t, kServices> held{};  ///< bytes that came by the link and have not left
    std::uint32_t stopped = 0;                   ///< a bit for each class that its source was told to stop
    Serialisation serialisation;                 ///< as the port at its source has, whose own this is not
  };
  static_assert(sizeof(Ingress) == 64, "an ingress takes a cache line");
  struct alignas(64) Device {
    std::int64_t held = 0;  ///< bytes in the buffer
    std::uint64_t draws = 0;
    std::vector<LinkIndex> arriving;  ///< links with packets in flight
    std::vector<LinkIndex> sending;   ///< links whose ports hold packets
  };
  /// The path that a flow keeps to as long as it is never silent.
  struct Flowlet {
    Time last;  ///< when a packet came
    std::uint32_t path = 0;
    bool begun = false;
  };
  struct Arrival {
    Moment moment = kNever;
    std::uint32_t order = 0;         ///< of those of one moment
    const Packet* packet = nullptr;  ///< where it was in flight; nobody launches onto the link meanwhile
    bool operator<(const Arrival& other) const {
      return moment != other.moment ? moment < other.moment : order < other.order;
    }
  };
  /// One switch in one window.
  struct Visit {
    DeviceIndex number;
    Device& device;
    const SwitchSpec& spec;
    Time base;  ///< from which moments count
    Time end;

    Moment moment(Time when, LinkIndex link) const {
      return static_cast<Moment>((when - base).count()) << 32U | link.value;
    }
    Time time(Moment moment) const { return base + Time{instant_of(moment)}; }
  };

  Time gather(const Visit& visit);
  Arrival* room_for(Arrival* next, std::size_t more);
  void gather_turns(const Visit& visit);
  const Arrival* settle(const Visit& visit, const Arrival* next);
  void approach_places(const Arrival* next) const;
  void arrive(const Visit& visit, const Arrival& arrival, Time now, bool last);
  bool admit(const SwitchSpec& spec, Device& device, LinkIndex out, Packet& packet);
  void balance(const SwitchSpec& spec, DeviceIndex number, Time now, Packet& packet);
  std::uint32_t flowlet_path(const SwitchSpec& spec, DeviceIndex number, Time now, ConnectionId flow);
  std::uint32_t least_loaded(DeviceIndex number, const Packet& packet, std::uint32_t hop, std::uint32_t first,
                             std::uint32_t last);
  std::int64_t load(LinkIndex link, std::uint8_t service) const;
  void mark(const SwitchSpec& spec, DeviceIndex number, std::int64_t queue, Packet& packet);
  void hold(const Visit& visit, const Packet& packet, Time now);
  void release(const Visit& visit, Port& port, Time now);
  void write_telemetry(LinkIndex link, const Packet& packet, Time left);
  void give_credit(const Port::Leaving& leaving, Time now);
  std::size_t limit_of(LinkIndex link, std::uint32_t service) const {
    return std::size_t{link.value} * kServices + service;
  }
  void start_next(const Visit& visit, LinkIndex link, Port& port, Time now);
  void start(const Visit& visit, LinkIndex link, Port& port, const Packet& packet, Time left);
  void add_turn(const Visit& visit, LinkIndex link, Time when);
  static Time turn_of(const Port& port);
  Time next_turn(Device& device);

  /// What all parts share.
  struct All {
    IdVector<DeviceIndex, Device> devices;
    IdVector<LinkIndex, Ingress> ingress;
    std::vector<std::uint32_t> limits;  ///< by link and class: credits given, in blocks; empty where nobody gives any
    IdVector<ConnectionId, Flowlet> flowlets;  ///< empty where nobody uses them
  };

  PacketLinks& links_;
  std::uint64_t seed_;
  std::unique_ptr<All> own_;  ///< nullptr: another one has them
  IdVector<DeviceIndex, Device>& devices_;
  IdVector<LinkIndex, Ingress>& ingress_;
  std::vector<std::uint32_t>& limits_;
  IdVector<ConnectionId, Flowlet>& flowlets_;
  std::vector<Arrival> arrivals_;  ///< of the window, the earliest first, up to `arrivals_end_`; kNever ends them
  const Arrival* arrivals_end_ = nullptr;
  Turns turns_;                      ///< when ports have sent their packets, or may go on
  std::vector<LinkIndex> starters_;  ///< links that may start a packet at the present instant
  SwitchCounters counters_;
};

}  // namespace athanor
