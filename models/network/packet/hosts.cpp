#include "models/network/packet/hosts.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"

namespace athanor {

std::uint32_t initial_packets(const TransportSpec& spec) {
  constexpr std::uint32_t kUsual = 10;  // RFC 6928
  if (spec.initial_window == Bytes::zero()) { return kUsual; }
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(spec.initial_window / spec.payload, 1, UINT32_MAX));
}

Hosts::Hosts(PacketLinks& links, const TransportSpec& spec, std::uint64_t seed, HostClock& clock)
    : links_(links),
      spec_(spec),
      seed_(join_hash(seed, hash_text("jitter of hosts"))),
      clock_(clock),
      pulled_(spec.control->words().receivers_ask),
      notice_interval_(spec.control->notice_interval()),
      full_packet_(static_cast<std::uint32_t>((spec.payload + spec.header).count())),
      own_(std::make_unique<All>()),
      all_(*own_),
      senders_(all_.senders),
      receivers_(all_.receivers),
      inlets_(all_.inlets),
      outlets_(all_.outlets) {
  senders_.resize(links.plan().flows.size());
  receivers_.resize(links.plan().flows.size());
  inlets_.resize(pulled_ ? links.plan().links.size() : 0);
  outlets_.resize(links.plan().links.size());
  IdVector<ConnectionId, Bandwidth> rates;
  rates.reserve(senders_.size());
  for (const ConnectionId flow : senders_.ids()) {
    const bool local = links_.plan().flows[flow].hops == 0;
    rates.push_back(local ? Bandwidth::max() : links_.link(first_link(flow)).rate);
  }
  if (spec.window != Bytes::max()) {
    most_window_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(spec.window / spec.payload, 1, UINT32_MAX));
  }
  all_.control =
      spec.control->make({spec.payload + spec.header, spec.reply, initial_packets(spec), std::move(rates), links});
  control_ = all_.control.get();
  for (const ConnectionId flow : senders_.ids()) { set_window(flow); }
}

Hosts::Hosts(Hosts& of, PacketLinks& links, HostClock& clock)
    : links_(links),
      spec_(of.spec_),
      seed_(of.seed_),
      clock_(clock),
      pulled_(of.pulled_),
      notice_interval_(of.notice_interval_),
      full_packet_(of.full_packet_),
      most_window_(of.most_window_),
      foresees_(of.foresees_),
      all_(of.all_),
      control_(of.control_),
      senders_(all_.senders),
      receivers_(all_.receivers),
      inlets_(all_.inlets),
      outlets_(all_.outlets) {}

void Hosts::set_window(ConnectionId flow) { senders_[flow].window = std::min(most_window_, control_->window(flow)); }

void Hosts::send(ConnectionId flow, Bytes size) {
  add_message(flow, size);
  queue_up(flow);
}

void Hosts::add_message(ConnectionId flow, Bytes size) {
  Sender& sender = senders_[flow];
  const std::int64_t packets = std::max<std::int64_t>(1, ceil_div(size.count(), spec_.payload.count()));
  if (packets > INT32_MAX || sender.end + static_cast<std::uint64_t>(packets) > UINT32_MAX) {
    throw SimulationError("too-many-packets",
                          "a flow of more than 2^32 packets: use the flow level, or larger packets");
  }
  const std::int64_t last = size.count() - (packets - 1) * spec_.payload.count();
  sender.end += static_cast<std::uint32_t>(packets);
  const Sender::Message message{sender.end, static_cast<std::uint32_t>(last), size.count()};
  sender.messages.push(message);
  receivers_[flow].messages.push(message);
  if (foresees_) { watch_leaving(flow); }
  if (pulled_) {
    receivers_[flow].needed += static_cast<std::uint32_t>(packets);
    grant_first_window(flow);
  }
}

/// Drawn for the next packet of a flow.
Time Hosts::jitter(ConnectionId flow) const {
  if (!spec_.jitter && !spec_.control->words().by_losses) { return Time::zero(); }
  const Time most = spec_.jitter ? *spec_.jitter : links_.port(first_link(flow)).duration(full_packet_);
  const std::uint64_t hash = join_hash(join_hash(seed_, flow.value), static_cast<std::uint64_t>(clock_.now().count()));
  return Time{static_cast<std::int64_t>(scale_hash(hash, static_cast<std::uint64_t>(most.count()) + 1))};
}

/// Puts a flow that may send, and until now might not, into its port's list.
void Hosts::queue_up(ConnectionId flow) {
  Sender& sender = senders_[flow];
  if (sender.queued || !may_send(sender)) { return; }
  const LinkIndex link = first_link(flow);
  sender.next_send = std::max(sender.next_send, clock_.now() + jitter(flow));
  line_up(flow, link, clock_.now());
  request_service(link, std::max(sender.next_send, clock_.now()));
}

/// Among those that may send at `now`, or those that have to wait.
void Hosts::line_up(ConnectionId flow, LinkIndex link, Time now) {
  Sender& sender = senders_[flow];
  sender.queued = true;
  if (sender.next_send > now) {
    outlets_[link].paced.push({sender.next_send, flow});
  } else {
    outlets_[link].ready.push(flow);
  }
}

void Hosts::request_service(LinkIndex link, Time when) {
  Outlet& outlet = outlets_[link];
  when = std::max(when, links_.port(link).free());
  if (outlet.service_due <= when) { return; }
  outlet.service_due = when;
  clock_.serve_at(link, when);
}

void Hosts::serve(LinkIndex link) {
  const Time now = clock_.now();
  Outlet& outlet = outlets_[link];
  Port& port = links_.port(link);
  if (outlet.service_due <= now) { outlet.service_due = Time::max(); }
  if (port.free() > now) { return request_service(link, now); }
  Port::Departure departure;
  ConnectionId flow;
  if (port.depart(now + Time{1}, departure)) {
    links_.launch(link, departure.packet, departure.end);
  } else if (!port.stopped(spec_.data_service, full_packet_, now) && pick(outlet, now, flow)) {
    send_packet(flow, link);
  }
  if (!port.idle()) {
    const Time next = port.next_start();
    if (next != Time::max()) { request_service(link, next); }
  }
  if (port.stopped(spec_.data_service, full_packet_, now)) { return; }  // the end of the pause wakes it
  if (!outlet.ready.empty()) {
    request_service(link, now);
  } else if (!outlet.paced.empty()) {
    request_service(link, outlet.paced.top().when);
  }
}

/// The next flow in turn; those whose time has come join the list at its end.
bool Hosts::pick(Outlet& outlet, Time now, ConnectionId& flow) {
  while (!outlet.paced.empty() && outlet.paced.top().when <= now) {
    outlet.ready.push(outlet.paced.top().flow);
    outlet.paced.pop();
  }
  while (!outlet.ready.empty()) {
    flow = outlet.ready.front();
    outlet.ready.pop();
    senders_[flow].queued = false;
    if (may_send(senders_[flow])) { return true; }
  }
  return false;
}

/// What to send: first what has to be repeated. False where nothing of that is missing any more, and nothing is new.
bool Hosts::next_number(Sender& sender, std::uint32_t& number) const {
  while (!sender.repeats.empty()) {
    number = sender.repeats.front();
    sender.repeats.pop();
    if (!sender.there.has(number)) { return true; }
  }
  number = sender.next;
  return sender.next != sender.end;
}

std::uint32_t Hosts::payload(const Sender& sender, std::uint32_t number) const {
  std::uint32_t place = number >= sender.next ? sender.sending_message : 0;
  while (sender.messages.at(place).end <= number) { ++place; }
  const Sender::Message& message = sender.messages.at(place);
  return number + 1 == message.end ? message.last_payload : static_cast<std::uint32_t>(spec_.payload.count());
}

/// Into PacketTopology::hops: where the path begins that a packet takes. Sent again it takes another.
std::uint32_t Hosts::path_of(ConnectionId flow, std::uint32_t number) const {
  const PacketTopology::Flow& plan = links_.plan().flows[flow];
  if (plan.paths == 1) { return plan.first_hop; }
  const std::uint64_t hash = join_hash(join_hash(flow.value, number), senders_[flow].repeated);
  return plan.first_hop + static_cast<std::uint32_t>(hash % plan.paths) * plan.hops;
}

void Hosts::send_packet(ConnectionId flow, LinkIndex link) {
  Sender& sender = senders_[flow];
  std::uint32_t number = 0;
  if (!next_number(sender, number)) { return; }
  Port& port = links_.port(link);
  const Time now = clock_.now();
  Packet packet;
  packet.flow = flow;
  packet.number = number;
  packet.sent = now;
  packet.bytes = payload(sender, number) + static_cast<std::uint32_t>(spec_.header.count());
  packet.hop = path_of(flow, number) + 1;
  packet.service = spec_.data_service;
  const Time end = now + port.duration(packet.bytes);
  port.occupy(packet.service, packet.bytes, end);
  links_.launch(link, packet, end);
  ++counters_.data;
  sender.next_send = std::max(control_->paced(flow, packet.bytes, now), capped(flow, packet.bytes, now));
  note_sent(flow, sender, number, end);
  arm(flow, sender);
  if (may_send(sender)) { line_up(flow, link, end); }
}

/// When a flow that sends so many bytes, headers included, may go on without exceeding its cap.
Time Hosts::capped(ConnectionId flow, std::uint32_t bytes, Time start) const {
  const Bandwidth cap = links_.plan().flows[flow].cap;
  return cap == Bandwidth::max() ? start : start + transfer_time(Bytes{bytes} - spec_.header, cap);
}

/// Counts a packet, which has been sent and whose last bit leaves at `end`.
void Hosts::note_sent(ConnectionId flow, Sender& sender, std::uint32_t number, Time end) {
  ++sender.outstanding;
  sender.credit -= pulled_ ? 1 : 0;
  if (number == sender.next) {
    ++sender.next;
    while (sender.next != sender.end && sender.messages.at(sender.sending_message).end <= sender.next) {
      ++sender.sending_message;
    }
  }
  if (number < sender.fresh) {
    ++counters_.repeated;
    ++sender.repeated;
    if (PortCounters* const counted = links_.counters(first_link(flow))) { ++counted->repeated; }
    return;
  }
  sender.fresh = sender.next;
  if (sender.fresh == sender.messages.at(sender.injected_messages).end) {
    ++sender.injected_messages;
    clock_.injected_at(flow, end);
  }
  if (foresees_) { watch_leaving(flow); }
}

/// One event at a time watches a flow, however often its deadline moves on.
void Hosts::arm(ConnectionId flow, Sender& sender) {
  sender.deadline = clock_.now() + spec_.timeout;
  if (sender.timer_pending) { return; }
  sender.timer_pending = true;
  clock_.timeout_at(flow, sender.deadline);
}

void Hosts::timeout(ConnectionId flow) {
  Sender& sender = senders_[flow];
  sender.timer_pending = false;
  if (sender.acknowledged == sender.fresh) { return; }
  if (sender.deadline > clock_.now()) {
    sender.timer_pending = true;
    return clock_.timeout_at(flow, sender.deadline);
  }
  ++counters_.timeouts;
  control_->timed_out(flow, progress(sender, sender.acknowledged));
  set_window(flow);
  if (!selective()) { return go_back(flow, sender.acknowledged); }
  while (!sender.repeats.empty()) { sender.repeats.pop(); }
  for (std::uint32_t number = sender.acknowledged; number < sender.next; ++number) {
    if (!sender.there.has(number)) { sender.repeats.push(number); }
  }
  sender.outstanding = 0;
  if (pulled_) { grant_repeats(flow); }
  arm(flow, sender);
  queue_up(flow);
}

CongestionControl::Progress Hosts::progress(const Sender& sender, std::uint32_t packet) const {
  return {packet, sender.fresh, sender.outstanding, clock_.now()};
}

void Hosts::go_back(ConnectionId flow, std::uint32_t to) {
  Sender& sender = senders_[flow];
  if (to >= sender.next) { return; }
  sender.next = to;
  sender.outstanding = to - sender.acknowledged;
  sender.sending_message = 0;
  arm(flow, sender);
  queue_up(flow);
}

/// For somebody else. A host has room for all of them.
void Hosts::pass_on(Packet packet) {
  const LinkIndex link = links_.next_hop(packet);
  ++packet.hop;
  enqueue(link, packet);
}

/// Serves an idle port at once, so that it costs no event.
void Hosts::enqueue(LinkIndex link, const Packet& packet) {
  links_.port(link).enqueue(packet, clock_.now());
  if (links_.port(link).free() <= clock_.now()) {
    serve(link);
  } else {
    request_service(link, clock_.now());
  }
}

}  // namespace athanor
