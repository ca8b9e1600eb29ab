#include "models/network/packet/switches.hpp"

#include <algorithm>
#include <functional>

#include "sim/random.hpp"

namespace athanor {

Switches::Switches(PacketLinks& links, std::uint64_t seed)
    : links_(links),
      seed_(mix64(seed)),
      devices_(links.plan().devices.size()),
      ingress_(links.plan().links.size()),
      is_sending_(links.plan().links.size()) {
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

void Switches::expect(LinkIndex link) { devices_[links_.link(link).target].arriving.push_back(link); }

void Switches::approach(DeviceIndex device) const {
  for (const LinkIndex link : devices_[device].arriving) { links_.approach_lane(link); }
  for (const LinkIndex link : devices_[device].sending) { links_.port(link).approach(); }
}

void Switches::approach_flights(DeviceIndex device) const {
  for (const LinkIndex link : devices_[device].arriving) { links_.approach_flights(link); }
}

Time Switches::work(DeviceIndex number, Time end) {
  Device& device = devices_[number];
  gather(device, end);
  gather_turns(device, end);
  std::size_t next_arrival = 0;
  for (;;) {
    Time now = next_arrival < arrivals_.size() ? arrivals_[next_arrival].when : Time::max();
    if (!turns_.empty()) { now = std::min(now, turns_.front().when); }
    if (now == Time::max()) { return next_time(device); }
    settle(number, now, next_arrival, end);
  }
}

/// How many arrivals ahead memory is brought near.
constexpr std::size_t kAhead = 2;

/// One instant: what has been sent gives its buffer back, then packets arrive, then free ports choose what to send.
void Switches::settle(DeviceIndex number, Time now, std::size_t& next_arrival, Time end) {
  starters_.clear();
  while (!turns_.empty() && turns_.front().when == now) {
    const LinkIndex link = turns_.front().link;
    std::pop_heap(turns_.begin(), turns_.end(), std::greater<>());
    turns_.pop_back();
    if (links_.port(link).is_sending()) { release(number, link, now); }
    starters_.push_back(link);
  }
  while (next_arrival < arrivals_.size() && arrivals_[next_arrival].when == now) {
    if (next_arrival + kAhead < arrivals_.size()) {
      const Packet& packet = packets_[arrivals_[next_arrival + kAhead].order];
      links_.approach_places(links_.next_hop(packet), packet.service);
    }
    const Arrival& arrival = arrivals_[next_arrival++];
    const bool last = next_arrival == arrivals_.size() || arrivals_[next_arrival].when > now;
    arrive(number, arrival, last, end);
  }
  for (const LinkIndex link : starters_) { start_next(link, now, end); }
}

/// All that arrives before `end`, in order of time and link.
void Switches::gather(Device& device, Time end) {
  arrivals_.clear();
  packets_.clear();
  std::size_t kept = 0;
  for (const LinkIndex link : device.arriving) {
    Ring<Flight>& flights = links_.flights(link);
    while (!flights.empty() && flights.front().when < end) {
      arrivals_.push_back({flights.front().when, link, static_cast<std::uint32_t>(packets_.size())});
      packets_.push_back(flights.front().packet);
      links_.approach(links_.next_hop(packets_.back()), packets_.back().service);
      __builtin_prefetch(&ingress_[link]);
      flights.pop();
    }
    if (!flights.empty()) { device.arriving[kept++] = link; }
  }
  device.arriving.resize(kept);
  std::sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) {
    if (a.when != b.when) { return a.when < b.when; }
    return a.link != b.link ? a.link < b.link : a.order < b.order;
  });
}

/// `last`: of its instant. Then nothing can overtake it any more, and it need not be enqueued where the port is idle.
void Switches::arrive(DeviceIndex number, const Arrival& arrival, bool last, Time end) {
  Device& device = devices_[number];
  const SwitchSpec& spec = links_.plan().switches[links_.plan().devices[number].spec];
  Packet packet = packets_[arrival.order];
  packet.ingress = arrival.link;
  if (spec.load_balancing != LoadBalancing::none) { balance(spec, number, arrival.when, packet); }
  const LinkIndex out = links_.next_hop(packet);
  Port& port = links_.port(out);
  const std::int64_t queue = port.bytes() + port.leaving_bytes();
  counters_.longest_queue = std::max(counters_.longest_queue, queue);
  PortCounters* const counted = links_.counters(out);
  if (counted != nullptr) { counted->arrived(queue); }
  if (!admit(spec, device, out, packet)) {
    ++counters_.dropped;
    if (counted != nullptr) { ++counted->dropped; }
    return;
  }
  mark(spec, number, queue, packet);
  ++packet.hop;
  ++counters_.forwarded;
  Time ready = arrival.when;
  if (spec.cut_through) {
    // Its first bit is there; a faster port starts so late that the last bit is there in time.
    const Time in = links_.port(arrival.link).duration(packet.bytes);
    ready += std::max(Time::zero(), in - port.duration(packet.bytes));
  }
  if (last && !port.is_sending() && port.passable(packet.service)) {
    start(out, packet, port.pass(packet, ready), end);
  } else {
    port.enqueue(packet, ready);
    if (!port.is_sending()) { starters_.push_back(out); }
  }
  if (!is_sending_[out]) {
    is_sending_[out] = true;
    device.sending.push_back(out);
  }
  hold(number, packet, arrival.when);
}

/// Is there room? A packet that is trimmed always finds it: what is left of it is small.
bool Switches::admit(const SwitchSpec& spec, Device& device, LinkIndex out, Packet& packet) {
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

void Switches::mark(const SwitchSpec& spec, DeviceIndex number, std::int64_t queue, Packet& packet) {
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

void Switches::hold(DeviceIndex number, const Packet& packet, Time now) {
  const SwitchSpec& spec = links_.plan().switches[links_.plan().devices[number].spec];
  devices_[number].held += packet.bytes;
  Ingress& ingress = ingress_[packet.ingress];
  std::int64_t& held = ingress.held[packet.service];
  held += packet.bytes;
  const std::uint32_t bit = 1U << packet.service;
  if (spec.flow_control != FlowControl::pfc || held <= spec.pause_above.count() || (ingress.stopped & bit) != 0) {
    return;
  }
  ingress.stopped |= bit;
  ++counters_.pauses;
  links_.signal(packet.ingress, packet.service, true, now);
}

/// What the port was sending has left.
void Switches::release(DeviceIndex number, LinkIndex link, Time now) {
  const Port::Leaving leaving = links_.port(link).leaving();
  const SwitchSpec& spec = links_.plan().switches[links_.plan().devices[number].spec];
  Ingress& ingress = ingress_[leaving.ingress];
  std::int64_t& held = ingress.held[leaving.service];
  const std::uint32_t bit = 1U << leaving.service;
  devices_[number].held -= leaving.bytes;
  held -= leaving.bytes;
  links_.port(link).sent();
  if (spec.flow_control == FlowControl::credits) { give_credit(leaving, now); }
  if ((ingress.stopped & bit) == 0 || held > spec.resume_below.count()) { return; }
  ingress.stopped &= ~bit;
  links_.signal(leaving.ingress, leaving.service, false, now);
}

/// For what a packet gives back. Apart, so that it costs nothing where there are no credits.
[[gnu::noinline]] void Switches::give_credit(const Port::Leaving& leaving, Time now) {
  std::uint32_t& limit = limits_[limit_of(leaving.ingress, leaving.service)];
  limit += PortCredits::blocks(leaving.bytes);
  links_.grant(leaving.ingress, leaving.service, limit, now);
}

void Switches::start_next(LinkIndex link, Time now, Time end) {
  if (links_.port(link).is_sending()) { return; }  // it stood in the list twice
  Port::Departure departure;
  if (links_.port(link).depart(now + Time{1}, departure)) {
    start(link, departure.packet, departure.end, end);
  } else {
    add_turn(link, end);
  }
}

void Switches::start(LinkIndex link, const Packet& packet, Time left, Time end) {
  links_.port(link).sends(packet, left);
  if (links_.telemetry() != nullptr) { write_telemetry(link, packet, left); }
  links_.launch(link, packet, left);
  add_turn(link, end);
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

Time Switches::turn_of(LinkIndex link) const {
  const Port& port = links_.port(link);
  if (port.is_sending()) { return port.leaving_end(); }
  return port.idle() ? Time::max() : port.next_start();
}

void Switches::add_turn(LinkIndex link, Time end) {
  const Time when = turn_of(link);
  if (when >= end) { return; }
  turns_.push_back({when, link});
  std::push_heap(turns_.begin(), turns_.end(), std::greater<>());
}

void Switches::gather_turns(Device& device, Time end) {
  turns_.clear();
  for (const LinkIndex link : device.sending) { add_turn(link, end); }
}

/// Drops ports that hold nothing any more from the list of those that send.
Time Switches::next_time(Device& device) {
  Time next = Time::max();
  for (const LinkIndex link : device.arriving) { next = std::min(next, links_.flights(link).front().when); }
  std::size_t kept = 0;
  for (const LinkIndex link : device.sending) {
    if (!links_.port(link).is_sending() && links_.port(link).idle()) {
      is_sending_[link] = false;
      continue;
    }
    device.sending[kept++] = link;
    next = std::min(next, turn_of(link));
  }
  device.sending.resize(kept);
  return next;
}

/// Moves a data packet to another path of its flow, of those that go on from here: they share the link by which it
/// came, and stand together.
void Switches::balance(const SwitchSpec& spec, DeviceIndex number, Time now, Packet& packet) {
  const PacketTopology& plan = links_.plan();
  const PacketTopology::Flow& flow = plan.flows[packet.flow];
  if (packet.kind != PacketKind::data || flow.paths == 1) { return; }
  const std::uint32_t hop = (packet.hop - flow.first_hop) % flow.hops;
  const auto link = [&](std::uint32_t path, std::uint32_t at) {
    return plan.hops[flow.first_hop + path * flow.hops + at];
  };
  std::uint32_t first = (packet.hop - flow.first_hop) / flow.hops;
  std::uint32_t last = first;
  const LinkIndex came_by = link(first, hop - 1);
  while (first > 0 && link(first - 1, hop - 1) == came_by) { --first; }
  while (last + 1 < flow.paths && link(last + 1, hop - 1) == came_by) { ++last; }
  if (link(first, hop) == link(last, hop)) { return; }
  std::uint32_t chosen = first;
  if (spec.load_balancing == LoadBalancing::flowlets) {
    if (first > 0 || last + 1 < flow.paths) { return; }  // the switch before has chosen the whole path
    chosen = flowlet_path(spec, number, now, packet.flow);
  } else {
    chosen = least_loaded(number, packet, hop, first, last);
  }
  packet.hop = flow.first_hop + chosen * flow.hops + hop;
}

std::uint32_t Switches::flowlet_path(const SwitchSpec& spec, DeviceIndex number, Time now, ConnectionId flow) {
  Flowlet& flowlet = flowlets_[flow];
  if (!flowlet.begun || now - flowlet.last > spec.flowlet_gap) {
    const std::uint64_t drawn = join_hash(seed_ ^ number.value, devices_[number].draws++);
    flowlet.path = static_cast<std::uint32_t>(drawn % links_.plan().flows[flow].paths);
    flowlet.begun = true;
  }
  flowlet.last = now;
  return flowlet.path;
}

/// Of equal ones any: who would always take the first would fill it with the packets of all ports at once.
std::uint32_t Switches::least_loaded(DeviceIndex number, const Packet& packet, std::uint32_t hop, std::uint32_t first,
                                     std::uint32_t last) {
  const PacketTopology& plan = links_.plan();
  const PacketTopology::Flow& flow = plan.flows[packet.flow];
  const std::uint32_t count = last - first + 1;
  const auto start = static_cast<std::uint32_t>(join_hash(seed_ ^ number.value, devices_[number].draws++) % count);
  std::uint32_t best = first;
  std::int64_t least = INT64_MAX;
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t path = first + (start + k) % count;
    const std::int64_t load = this->load(plan.hops[flow.first_hop + path * flow.hops + hop], packet.service);
    if (load >= least) { continue; }
    least = load;
    best = path;
  }
  return best;
}

/// Bytes that wait at a port or are being sent; one that was stopped comes behind all others.
std::int64_t Switches::load(LinkIndex link, std::uint8_t service) const {
  constexpr std::int64_t kStopped = INT64_MAX / 2;
  const Port& port = links_.port(link);
  return port.bytes() + port.leaving_bytes() + (port.is_stopped(service) ? kStopped : 0);
}

}  // namespace athanor
