#include "models/network/packet/switches.hpp"

#include <algorithm>

#include "sim/random.hpp"

namespace athanor {

Switches::Switches(PacketLinks& links, std::uint64_t seed)
    : links_(links),
      seed_(mix64(seed)),
      own_(std::make_unique<All>()),
      devices_(own_->devices),
      ingress_(own_->ingress),
      limits_(own_->limits),
      flowlets_(own_->flowlets) {
  devices_.resize(links.plan().devices.size());
  ingress_.resize(links.plan().links.size());
  for (const SwitchSpec& spec : links.plan().switches) {
    if (spec.load_balancing == LoadBalancing::flowlets) { flowlets_.resize(links.plan().flows.size()); }
  }
  for (const LinkIndex link : links.plan().links.ids()) {
    if (!links.under_credits(link)) { continue; }
    limits_.resize(links.plan().links.size() * kServices);
    for (std::uint32_t service = 0; service < kServices; ++service) {
      limits_[limit_of(link, service)] = links.credits(link);
    }
  }
}

Switches::Switches(Switches& of, PacketLinks& links)
    : links_(links),
      seed_(of.seed_),
      devices_(of.devices_),
      ingress_(of.ingress_),
      limits_(of.limits_),
      flowlets_(of.flowlets_) {}

void Switches::expect(LinkIndex link) { devices_[links_.target(link)].arriving.push_back(link); }

void Switches::approach_lists(DeviceIndex device) const {
  __builtin_prefetch(devices_[device].arriving.data());
  __builtin_prefetch(devices_[device].sending.data());
}

void Switches::approach_links(DeviceIndex device) const {
  for (const LinkIndex link : devices_[device].arriving) { links_.approach_arriving(link); }
  for (const LinkIndex link : devices_[device].sending) { links_.port(link).approach(); }
}

void Switches::approach_packets(DeviceIndex device) const {
  for (const LinkIndex link : devices_[device].arriving) { links_.approach_flights(link); }
  for (const LinkIndex link : devices_[device].sending) { links_.port(link).approach_waiting(); }
}

/// One instant: what has been sent gives its buffer back, then packets arrive, then free ports choose what to send.
/// Returns the first arrival after it.
inline const Switches::Arrival* Switches::settle(const Visit& visit, const Arrival* next) {
  const Moment first = std::min(next->moment, turns_.first());
  const std::uint32_t instant = instant_of(first);
  const Time now = visit.time(first);
  starters_.clear();
  for (; instant_of(turns_.first()) == instant; turns_.pop()) {
    const LinkIndex link = link_of(turns_.first());
    if (links_.port(link).is_sending()) { release(visit, links_.port(link), now); }
    starters_.push_back(link);
  }
  for (; instant_of(next->moment) == instant; ++next) {
    approach_places(next);
    arrive(visit, *next, now, instant_of(next[1].moment) != instant);
  }
  for (const LinkIndex link : starters_) { start_next(visit, link, links_.port(link), now); }
  return next;
}

/// Brings near what an arrival a little later will touch last.
inline void Switches::approach_places(const Arrival* next) const {
  constexpr std::ptrdiff_t kAhead = 2;
  if (arrivals_end_ - next <= kAhead) { return; }
  const Packet& packet = *next[kAhead].packet;
  links_.approach_places(links_.next_hop(packet), packet.service);
}

/// All that arrives in the window, in order. Returns when the first packet arrives after it.
inline Time Switches::gather(const Visit& visit) {
  Time later = Time::max();
  Arrival* next = arrivals_.data();
  std::size_t kept = 0;
  for (const LinkIndex link : visit.device.arriving) {
    Ring<Flight>& flights = links_.flights(link);
    __builtin_prefetch(&ingress_[link]);
    next = room_for(next, flights.size() + 1);
    std::uint32_t order = 0;
    for (; order < flights.size() && flights.at(order).when < visit.end; ++order) {
      const Packet& packet = flights.at(order).packet;
      links_.approach(links_.next_hop(packet), packet.service);
      *next++ = {visit.moment(flights.at(order).when, link), order, &packet};
    }
    flights.pop(order);
    if (flights.empty()) { continue; }
    later = std::min(later, flights.front().when);
    visit.device.arriving[kept++] = link;
  }
  visit.device.arriving.resize(kept);
  next = room_for(next, 1);
  std::sort(arrivals_.data(), next);
  *next = {};
  arrivals_end_ = next;
  return later;
}

/// Makes room for so many more behind `next`, which it returns where it is then.
inline Switches::Arrival* Switches::room_for(Arrival* next, std::size_t more) {
  const auto used = static_cast<std::size_t>(next - arrivals_.data());
  if (used + more > arrivals_.size()) [[unlikely]] { arrivals_.resize(2 * (used + more)); }
  return arrivals_.data() + used;
}

/// `last`: of its instant. Then nothing can overtake it any more, and it need not be enqueued where the port is idle.
inline void Switches::arrive(const Visit& visit, const Arrival& arrival, Time now, bool last) {
  const SwitchSpec& spec = visit.spec;
  Packet packet = *arrival.packet;
  packet.ingress = link_of(arrival.moment);
  if (spec.load_balancing != LoadBalancing::none) { balance(spec, visit.number, now, packet); }
  const LinkIndex out = links_.next_hop(packet);
  Port& port = links_.port(out);
  const std::int64_t queue = port.bytes() + port.leaving_bytes();
  counters_.longest_queue = std::max(counters_.longest_queue, queue);
  PortCounters* const counted = links_.counters(out);
  if (counted != nullptr) { counted->arrived(queue); }
  if (!admit(spec, visit.device, out, packet)) {
    ++counters_.dropped;
    if (counted != nullptr) { ++counted->dropped; }
    return;
  }
  if (queue >= spec.marking.from.count()) { mark(spec, visit.number, queue, packet); }
  ++packet.hop;
  ++counters_.forwarded;
  Time ready = now;
  if (spec.cut_through) {
    // Its first bit is there; a faster port starts so late that the last bit is there in time.
    const Time in = ingress_[packet.ingress].serialisation.time(packet.bytes, links_.port(packet.ingress).medium());
    ready += std::max(Time::zero(), in - port.duration(packet.bytes));
  }
  if (last && !port.is_sending() && port.passable(packet.service)) {
    start(visit, out, port, packet, port.pass(packet, ready));
  } else {
    port.enqueue(packet, ready);
    if (!port.is_sending()) { starters_.push_back(out); }
  }
  if (!port.is_listed()) {
    port.set_listed(true);
    visit.device.sending.push_back(out);
  }
  hold(visit, packet, now);
}

/// Is there room? A packet that is trimmed always finds it: what is left of it is small.
inline bool Switches::admit(const SwitchSpec& spec, Device& device, LinkIndex out, Packet& packet) {
  constexpr std::uint32_t kTrimmed = 64;  // bytes: headers
  const bool queue_full = spec.flow_control == FlowControl::none &&
                          links_.port(out).bytes(packet.service) + packet.bytes > spec.queue.count();
  if (!queue_full && packet.bytes <= spec.buffer.count() - device.held) { return true; }
  if (!spec.trims || packet.kind != PacketKind::data) { return false; }
  packet.bytes = std::min(packet.bytes, kTrimmed);
  packet.trimmed = true;
  packet.service = 0;
  ++counters_.trimmed;
  if (PortCounters* const counted = links_.counters(out)) { ++counted->trimmed; }
  return true;
}

[[gnu::noinline]] void Switches::mark(const SwitchSpec& spec, DeviceIndex number, std::int64_t queue, Packet& packet) {
  const MarkingSpec& marking = spec.marking;
  if (packet.kind != PacketKind::data || queue < marking.from.count()) { return; }
  if (queue < marking.to.count()) {
    // most * (queue - from) / (to - from), against 32 random bits.
    const Wide span = Wide{(marking.to - marking.from).count()} * marking.most.denominator;
    const Wide share = Wide{queue - marking.from.count()} * marking.most.numerator;
    const std::uint64_t drawn = join_hash(seed_ ^ number.value, devices_[number].draws++) >> 32U;
    if (Wide{static_cast<std::int64_t>(drawn)} * span >= share << 32U) { return; }
  }
  packet.marked = true;
  ++counters_.marked;
  if (PortCounters* const counted = links_.counters(links_.next_hop(packet))) { ++counted->marked; }
}

inline void Switches::hold(const Visit& visit, const Packet& packet, Time now) {
  visit.device.held += packet.bytes;
  Ingress& ingress = ingress_[packet.ingress];
  std::int64_t& held = ingress.held[packet.service];
  held += packet.bytes;
  const std::uint32_t bit = 1U << packet.service;
  if (visit.spec.flow_control != FlowControl::pfc || held <= visit.spec.pause_above.count() ||
      (ingress.stopped & bit) != 0) {
    return;
  }
  ingress.stopped |= bit;
  ++counters_.pauses;
  links_.signal(packet.ingress, packet.service, true, now);
}

/// What the port was sending has left.
inline void Switches::release(const Visit& visit, Port& port, Time now) {
  const Port::Leaving leaving = port.leaving();
  Ingress& ingress = ingress_[leaving.ingress];
  std::int64_t& held = ingress.held[leaving.service];
  const std::uint32_t bit = 1U << leaving.service;
  visit.device.held -= leaving.bytes;
  held -= leaving.bytes;
  port.sent();
  if (visit.spec.flow_control == FlowControl::credits) { give_credit(leaving, now); }
  if ((ingress.stopped & bit) == 0 || held > visit.spec.resume_below.count()) { return; }
  ingress.stopped &= ~bit;
  links_.signal(leaving.ingress, leaving.service, false, now);
}

/// For what a packet gives back. Apart, so that it costs nothing where there are no credits.
[[gnu::noinline]] void Switches::give_credit(const Port::Leaving& leaving, Time now) {
  std::uint32_t& limit = limits_[limit_of(leaving.ingress, leaving.service)];
  limit += PortCredits::blocks(leaving.bytes);
  links_.grant(leaving.ingress, leaving.service, limit, now);
}

inline void Switches::start_next(const Visit& visit, LinkIndex link, Port& port, Time now) {
  if (port.is_sending()) { return; }  // it stood in the list twice
  if (port.idle() && !port.is_pausing()) { return; }
  Port::Departure departure;
  if (port.depart(now + Time{1}, departure)) {
    start(visit, link, port, departure.packet, departure.end);
  } else {
    add_turn(visit, link, turn_of(port));
  }
}

inline void Switches::start(const Visit& visit, LinkIndex link, Port& port, const Packet& packet, Time left) {
  port.sends(packet, left);
  if (links_.telemetry() != nullptr) { write_telemetry(link, packet, left); }
  links_.launch(link, packet, left);
  add_turn(visit, link, left);
}

/// Of the port by which a packet leaves, which it has taken as its last hop.
[[gnu::noinline]] void Switches::write_telemetry(LinkIndex link, const Packet& packet, Time left) {
  Telemetry& telemetry = *links_.telemetry();
  telemetry.count(link, links_.port(link).wire_bytes(packet.bytes));
  if (packet.kind != PacketKind::data) { return; }
  const PacketTopology::Flow& flow = links_.plan().flows[packet.flow];
  const std::uint32_t hop = (packet.hop - 1 - flow.first_hop) % flow.hops;
  telemetry.note(packet.flow, packet.number, hop, link, links_.port(link).bytes(), left);
}

inline Time Switches::turn_of(const Port& port) {
  if (port.is_sending()) { return port.leaving_end(); }
  return port.idle() ? Time::max() : port.next_start();
}

inline void Switches::add_turn(const Visit& visit, LinkIndex link, Time when) {
  if (when < visit.end) { turns_.add(visit.moment(when, link)); }
}

inline void Switches::gather_turns(const Visit& visit) {
  turns_.clear();
  for (const LinkIndex link : visit.device.sending) {
    links_.port(link).approach_fronts();
    add_turn(visit, link, turn_of(links_.port(link)));
  }
}

/// Drops ports that hold nothing any more from the list of those that send.
inline Time Switches::next_turn(Device& device) {
  Time next = Time::max();
  std::size_t kept = 0;
  for (const LinkIndex link : device.sending) {
    Port& port = links_.port(link);
    if (!port.is_sending() && port.idle()) {
      port.set_listed(false);
      continue;
    }
    device.sending[kept++] = link;
    next = std::min(next, turn_of(port));
  }
  device.sending.resize(kept);
  return next;
}

/// All that it calls for each packet becomes part of it, which saves a quarter. `inline` allows that: in code that may
/// be linked into a shared library, compilers keep calls of other functions, since somebody might replace those.
[[gnu::flatten]] Time Switches::work(DeviceIndex number, Time end) {
  constexpr Time kMostWindow{std::int64_t{1} << 31U};  // longer than any, so that moments fit
  Device& device = devices_[number];
  const Visit visit{number, device, links_.plan().switches[links_.plan().devices[number].spec], end - kMostWindow, end};
  gather_turns(visit);
  const Time later = gather(visit);
  const Arrival* next = arrivals_.data();
  while (next->moment != kNever || turns_.first() != kNever) {
    const std::uint32_t turn = instant_of(turns_.first());
    if (turn < instant_of(next->moment) && turn < instant_of(turns_.second())) {
      const LinkIndex link = link_of(turns_.first());
      Port& port = links_.port(link);
      const Time now = visit.time(turns_.first());
      turns_.pop();
      if (port.is_sending()) { release(visit, port, now); }
      start_next(visit, link, port, now);
    } else {
      next = settle(visit, next);
    }
  }
  return std::min(later, next_turn(device));
}

}  // namespace athanor
