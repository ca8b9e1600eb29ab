#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "models/network/packet/packet.hpp"
#include "models/network/packet/packet_topology.hpp"
#include "models/network/packet/ring.hpp"

namespace athanor {

/// What a link is made of.
struct Medium {
  Bandwidth rate;
  LinkFraming framing;
  Time time(std::uint32_t bytes) const { return transfer_time(Bytes{framing.on_wire(bytes)}, rate); }
};

/// What packets take on a link, exact and without a division where sizes repeat.
class Serialisation {
 public:
  /// Times that do not fit into what is kept, at some kilobits per second, are worked out each time.
  Time time(std::uint32_t bytes, const Medium& medium) {
    if (bytes > kSmall) {
      if (large_ != bytes) { keep_large(bytes, medium); }
      return large_time_;
    }
    if (small_ != bytes) {
      const Time time = medium.time(bytes);
      if (time.count() > UINT32_MAX) { return time; }
      keep_small(bytes, medium);
    }
    return Time{small_time_};
  }
  std::uint32_t wire_bytes(std::uint32_t bytes, const Medium& medium) {
    if (bytes > kSmall && bytes == large_) { return large_wire_; }
    return medium.framing.on_wire(bytes);
  }

 private:
  static constexpr std::uint32_t kSmall = 128;  ///< acknowledgements and the like
  void keep_large(std::uint32_t bytes, const Medium& medium) {
    large_ = bytes;
    large_wire_ = medium.framing.on_wire(bytes);
    large_time_ = medium.time(bytes);
  }
  void keep_small(std::uint32_t bytes, const Medium& medium) {
    small_ = static_cast<std::uint8_t>(bytes);
    small_time_ = static_cast<std::uint32_t>(medium.time(bytes).count());
  }

  Time large_time_;
  std::uint32_t large_ = 0;
  std::uint32_t large_wire_ = 0;
  std::uint32_t small_time_ = 0;
  std::uint8_t small_ = 0;
};

/// What a port may still send under flow control by credits, by class: an InfiniBand link's absolute accounting, in
/// blocks of 64 bytes, modulo 2^32 (InfiniBand Architecture Specification 1.2.1, volume 1, section 7.9).
struct PortCredits {
  struct Lane {
    std::uint32_t sent = 0;   ///< FCTBS: since the link came up
    std::uint32_t limit = 0;  ///< FCCL: up to which it may send
    std::uint32_t room() const { return limit - sent; }
  };
  static constexpr std::uint32_t blocks(std::uint32_t bytes) { return (bytes + 63) / 64; }

  std::array<Lane, kServices> lanes;
};

/// The queues at the source of a link, one for each class of service, and the transmitter that they share. It works
/// lazily: what happens until some time is found out when somebody asks for it, from what is known by then.
class Port {
 public:
  struct Departure {
    Packet packet;
    Time end;  ///< of its last bit
  };
  /// Class `service` stops or goes on at `when`: a pause frame that the far end of the link sent, or the credits.
  struct Pause {
    Time when;
    std::uint8_t service = 0;
    bool stop = false;
    std::uint32_t limit = 0;  ///< under credits, and then there is no stop: PortCredits::Lane::limit from now on
  };

  /// A packet that is being sent. In a switch it holds its buffer to the end.
  struct Leaving {
    Time end;
    std::uint32_t bytes = 0;
    LinkIndex ingress;
    std::uint8_t service = 0;
  };

  Port(Bandwidth rate, const LinkFraming& framing) : medium_{rate, framing} {}

  /// From now on a class sends no more than the credits it is given, so many blocks for a beginning.
  void await_credits(std::uint32_t blocks);

  /// The packet may start at `ready` or later. Requires that `ready` never falls within a class.
  void enqueue(const Packet& packet, Time ready) {
    Service& service = services_[packet.service];
    service.queue.push({packet, ready});
    service.bytes += packet.bytes;
    waiting_ = static_cast<std::uint8_t>(waiting_ | 1U << packet.service);
    bytes_ += packet.bytes;
    if (credited_) { note_enqueued(packet.service, ready); }
  }
  /// Requires that `when` never falls.
  void pause(const Pause& pause) {
    if (!pauses_) { pauses_ = std::make_unique<Ring<Pause>>(); }
    pauses_->push(pause);
    pausing_ = true;
  }

  /// The next packet that starts to leave before `until`, taken out of its queue; false: there is none, whatever may
  /// still be enqueued with ready >= until.
  bool depart(Time until, Departure& departure);

  /// May a packet of class `service` pass without being enqueued, as nothing waits and nothing stops it?
  bool passable(std::uint8_t service) const {
    return waiting_ == 0 && !pausing_ && !credited_ && (stopped_ >> service & 1U) == 0;
  }
  /// Sends a packet that was not enqueued. Requires passable(). Returns when its last bit leaves.
  Time pass(const Packet& packet, Time ready) {
    return free_ = std::max({free_, ready, services_[packet.service].resumed}) + duration(packet.bytes);
  }

  bool is_sending() const { return leaving_bytes_ > 0; }
  /// What is_sending() is about, until sent(). For switches only.
  Leaving leaving() const { return {leaving_end_, leaving_bytes_, leaving_ingress_, leaving_service_}; }
  std::uint32_t leaving_bytes() const { return leaving_bytes_; }
  Time leaving_end() const { return leaving_end_; }
  void sends(const Packet& packet, Time end) {
    leaving_end_ = end;
    leaving_bytes_ = packet.bytes;
    leaving_ingress_ = packet.ingress;
    leaving_service_ = packet.service;
  }
  void sent() { leaving_bytes_ = 0; }
  /// A switch keeps a list of its ports that hold packets: is it in it?
  bool is_listed() const { return listed_; }
  void set_listed(bool listed) { listed_ = listed; }

  /// Bring near what every packet touches, then what waits, in two steps; the queue of a class; its end.
  void approach() const { __builtin_prefetch(this); }
  void approach_waiting() const {
    for (std::uint32_t open = waiting_; open != 0; open &= open - 1) { approach_queue(first_of(open)); }
  }
  void approach_fronts() const {
    for (std::uint32_t open = waiting_; open != 0; open &= open - 1) {
      services_[first_of(open)].queue.approach_front();
    }
  }
  void approach_queue(std::uint8_t service) const { __builtin_prefetch(&services_[service]); }
  void approach_place(std::uint8_t service) const { services_[service].queue.approach_end(); }

  /// No packet starts before `when`: something else is sent first.
  void hold(Time when) { free_ = std::max(free_, when); }
  /// Something of that class, so many bytes, is sent until `when` without having been enqueued.
  void occupy(std::uint8_t service, std::uint32_t bytes, Time when) {
    hold(when);
    if (credited_) { credits_->lanes[service].sent += PortCredits::blocks(bytes); }
  }

  /// Everything that is known of the future, and what waits, comes so much later (earlier where `by` is below zero).
  void delay(Time by);
  /// Calls each(packet) for all that wait.
  template <class Each>
  void for_waiting(const Each& each) {
    for (Service& service : services_) {
      for (std::uint32_t k = 0; k < service.queue.size(); ++k) { each(service.queue.at(k).packet); }
    }
  }
  /// Calls each(when) for all stops that begin or end later.
  template <class Each>
  void for_pauses(const Each& each) const {
    for (std::uint32_t k = 0; pauses_ && k < pauses_->size(); ++k) { each(pauses_->at(k).when); }
  }

  /// Has class `service` been told to stop, or has it too few credits for so many bytes, of what is known at `now`?
  bool stopped(std::uint8_t service, std::uint32_t bytes, Time now);

  /// A packet in the queue of its class.
  struct Waiting {
    Packet packet;
    Time ready;
  };
  const Ring<Waiting>& waiting(std::uint8_t service) const { return services_[service].queue; }
  /// Is class `service` stopped, as far as the port has looked?
  bool is_stopped(std::uint8_t service) const { return (stopped_ >> service & 1U) != 0; }
  /// Is class `service` stopped, and nothing under way that tells it to go on?
  bool stands(std::uint8_t service) const;

  bool idle() const { return waiting_ == 0; }
  bool is_pausing() const { return pausing_; }
  /// When the transmitter is free of what has started.
  Time free() const { return free_; }
  /// Waiting, without what has started.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t bytes(std::uint8_t service) const { return services_[service].bytes; }
  /// The earliest time at which depart() could find something, as far as is known; Time::max(): not before somebody
  /// enqueues or pauses end.
  Time next_start() const;
  Time duration(std::uint32_t bytes) { return serialisation_.time(bytes, medium_); }
  /// As duration(), for who does not own the port.
  const Medium& medium() const { return medium_; }
  std::uint32_t wire_bytes(std::uint32_t bytes) { return serialisation_.wire_bytes(bytes, medium_); }

 private:
  struct Service {
    Ring<Waiting> queue;
    std::int64_t bytes = 0;
    Time resumed;  ///< when its last stop ended
  };
  static std::uint8_t first_of(std::uint32_t bits) { return static_cast<std::uint8_t>(__builtin_ctz(bits)); }
  struct Choice {
    std::uint32_t service = kServices;
    Time start = Time::max();
  };
  Choice choose() const;
  void apply_pause();
  void apply_pauses(Time now);
  void note_enqueued(std::uint32_t service, Time ready);
  void note_departed(std::uint32_t service, std::uint32_t bytes);
  void check_credit(std::uint32_t service);

  // What every packet touches comes first, up to `medium_`, in one cache line.
  alignas(64) Time free_;
  Serialisation serialisation_;
  std::int64_t bytes_ = 0;
  Time leaving_end_;
  std::uint32_t leaving_bytes_ = 0;
  LinkIndex leaving_ingress_;
  std::uint8_t leaving_service_ = 0;
  std::uint8_t waiting_ = 0;  ///< a bit for each class that has packets
  std::uint8_t stopped_ = 0;  ///< a bit for each class that is stopped
  bool pausing_ = false;      ///< `pauses_` is not empty
  bool credited_ = false;     ///< `credits_` is there
  bool listed_ = false;
  Medium medium_;
  std::unique_ptr<Ring<Pause>> pauses_;      ///< that have not begun to hold, in order of time; none: never was one
  std::array<Service, kServices> services_;  ///< of which the first two lie in one cache line each
  std::unique_ptr<PortCredits> credits_;
  static_assert(kServices <= 8);
};
static_assert(sizeof(Port) <= 256, "a port takes four cache lines");

/// Strict priority: of what is ready when the transmitter is free the first class; else what is ready first.
inline Port::Choice Port::choose() const {
  Choice best;
  for (auto open = static_cast<std::uint32_t>(waiting_ & ~stopped_); open != 0; open &= open - 1) {
    const auto number = static_cast<std::uint32_t>(__builtin_ctz(open));
    const Service& service = services_[number];
    const Time start = std::max({free_, service.queue.front().ready, service.resumed});
    if (start < best.start) { best = {number, start}; }
  }
  return best;
}

inline bool Port::depart(Time until, Departure& departure) {
  for (;;) {
    const Choice choice = choose();
    const Time last = std::min(choice.start, until);
    if (pausing_ && pauses_->front().when <= last && pauses_->front().when < until) {
      apply_pause();
      continue;
    }
    if (choice.start >= until) { return false; }
    Service& service = services_[choice.service];
    departure.packet = service.queue.front().packet;
    service.queue.pop();
    free_ = choice.start + duration(departure.packet.bytes);
    departure.end = free_;
    service.bytes -= departure.packet.bytes;
    bytes_ -= departure.packet.bytes;
    if (service.queue.empty()) { waiting_ = static_cast<std::uint8_t>(waiting_ & ~(1U << choice.service)); }
    if (credited_) { note_departed(choice.service, departure.packet.bytes); }
    return true;
  }
}

}  // namespace athanor
