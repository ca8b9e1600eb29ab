#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/network/packet/link_framing.hpp"
#include "models/network/packet/packet.hpp"
#include "models/network/packet/packet_plan.hpp"
#include "models/network/packet/ring.hpp"

namespace athanor {

/// What packets take on a link, exact and without a division where sizes repeat.
class Serialisation {
 public:
  Serialisation(Bandwidth rate, const LinkFraming& framing) : rate_(rate), framing_(framing) {}
  Time time(std::uint32_t bytes) { return known(bytes).time; }
  std::uint32_t wire_bytes(std::uint32_t bytes) { return known(bytes).wire; }

 private:
  static constexpr std::uint32_t kSmall = 128;  ///< acknowledgements and the like
  struct Known {
    std::uint32_t bytes = 0;
    std::uint32_t wire = 0;
    Time time;
  };
  const Known& known(std::uint32_t bytes) {
    Known& known = known_[bytes > kSmall ? 1 : 0];
    if (known.bytes != bytes) {
      const std::uint32_t wire = framing_.on_wire(bytes);
      known = {bytes, wire, transfer_time(Bytes{wire}, rate_)};
    }
    return known;
  }

  Bandwidth rate_;
  std::array<Known, 2> known_;
  LinkFraming framing_;
};

/// The queues at the source of a link, one for each class of service, and the transmitter that they share. It works
/// lazily: what happens until some time is found out when somebody asks for it, from what is known by then.
class Port {
 public:
  struct Departure {
    Packet packet;
    Time end;  ///< of its last bit
  };
  /// Class `service` stops or goes on at `when`: a pause frame that the far end of the link sent.
  struct Pause {
    Time when;
    std::uint8_t service = 0;
    bool stop = false;
  };

  Port(Bandwidth rate, const LinkFraming& framing) : serialisation_(rate, framing) {}

  /// The packet may start at `ready` or later. Requires that `ready` never falls within a class.
  void enqueue(const Packet& packet, Time ready) {
    Service& service = services_[packet.service];
    service.queue.push({packet, ready});
    service.bytes += packet.bytes;
    waiting_ |= 1U << packet.service;
    bytes_ += packet.bytes;
  }
  /// Requires that `when` never falls.
  void pause(const Pause& pause) { pauses_.push(pause); }

  /// The next packet that starts to leave before `until`, taken out of its queue; false: there is none, whatever may
  /// still be enqueued with ready >= until.
  bool depart(Time until, Departure& departure);

  /// May a packet of class `service` pass without being enqueued, as nothing waits and nothing stops it?
  bool passable(std::uint8_t service) const {
    return waiting_ == 0 && pauses_.empty() && (stopped_ >> service & 1U) == 0;
  }
  /// Sends a packet that was not enqueued. Requires passable(). Returns when its last bit leaves.
  Time pass(const Packet& packet, Time ready) {
    return free_ = std::max({free_, ready, services_[packet.service].resumed}) + serialisation_.time(packet.bytes);
  }

  /// No packet starts before `when`: something else is sent first.
  void hold(Time when) { free_ = std::max(free_, when); }

  /// Has class `service` been told to stop, of what is known at `now`?
  bool stopped(std::uint8_t service, Time now);

  bool idle() const { return waiting_ == 0; }
  /// When the transmitter is free of what has started.
  Time free() const { return free_; }
  /// Waiting, without what has started.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t bytes(std::uint8_t service) const { return services_[service].bytes; }
  /// The earliest time at which depart() could find something, as far as is known; Time::max(): not before somebody
  /// enqueues or pauses end.
  Time next_start() const;
  Time duration(std::uint32_t bytes) { return serialisation_.time(bytes); }
  std::uint32_t wire_bytes(std::uint32_t bytes) { return serialisation_.wire_bytes(bytes); }

 private:
  struct Waiting {
    Packet packet;
    Time ready;
  };
  struct Service {
    Ring<Waiting> queue;
    std::int64_t bytes = 0;
    Time resumed;  ///< when its last stop ended
  };
  struct Choice {
    std::uint32_t service = kServices;
    Time start = Time::max();
  };
  Choice choose() const;
  void apply_pause();

  // What every packet touches comes first, in one cache line.
  alignas(64) Time free_;
  std::int64_t bytes_ = 0;
  std::uint32_t waiting_ = 0;  ///< a bit for each class that has packets
  std::uint32_t stopped_ = 0;  ///< a bit for each class that is stopped
  Ring<Pause> pauses_;         ///< that have not begun to hold, in order of time
  Serialisation serialisation_;
  std::array<Service, kServices> services_;
};

}  // namespace athanor
