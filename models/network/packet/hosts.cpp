#include "models/network/packet/hosts.hpp"

#include <algorithm>

#include "models/network/packet/dcqcn.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// A window that nobody closes.
class NoControl final : public CongestionControl {
 public:
  Time paced(std::uint32_t, std::uint32_t, Time start) override { return start; }
  void congestion_notice(std::uint32_t, Time) override {}
};

}  // namespace

std::unique_ptr<CongestionControl> make_congestion_control(const TransportSpec& spec,
                                                           const std::vector<Bandwidth>& line_rates) {
  switch (spec.control) {
    case TransportSpec::Control::none: return std::make_unique<NoControl>();
    case TransportSpec::Control::dcqcn: return std::make_unique<Dcqcn>(spec.dcqcn, line_rates);
  }
  return nullptr;
}

Hosts::Hosts(PacketLinks& links, const TransportSpec& spec, HostClock& clock)
    : links_(links),
      spec_(spec),
      clock_(clock),
      senders_(links.plan().flows.size()),
      receivers_(links.plan().flows.size()),
      outlets_(links.plan().links.size()) {
  std::vector<Bandwidth> rates;
  rates.reserve(senders_.size());
  for (std::uint32_t flow = 0; flow < senders_.size(); ++flow) {
    const bool local = links_.plan().flows[flow].hops == 0;
    rates.push_back(local ? Bandwidth::max() : links_.link(first_link(flow)).rate);
    if (spec.window == Bytes::max()) { continue; }
    senders_[flow].window =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(spec.window / spec.payload, 1, UINT32_MAX));
  }
  control_ = make_congestion_control(spec, rates);
}

void Hosts::send(std::uint32_t flow, Bytes size) {
  Sender& sender = senders_[flow];
  const std::int64_t packets = std::max<std::int64_t>(1, ceil_div(size.count(), spec_.payload.count()));
  if (packets > INT32_MAX || sender.end + static_cast<std::uint64_t>(packets) > UINT32_MAX) {
    throw SimulationError("too-many-packets",
                          "a flow of more than 2^32 packets: use the flow level, or larger packets");
  }
  const std::int64_t last = size.count() - (packets - 1) * spec_.payload.count();
  sender.end += static_cast<std::uint32_t>(packets);
  sender.messages.push({sender.end, static_cast<std::uint32_t>(last), size.count()});
  queue_up(flow);
}

/// Puts a flow that may send into its port's list.
void Hosts::queue_up(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  if (sender.queued || !may_send(sender)) { return; }
  const std::uint32_t link = first_link(flow);
  line_up(flow, link, clock_.now());
  want_service(link, std::max(sender.next_send, clock_.now()));
}

/// Among those that may send at `now`, or those that have to wait.
void Hosts::line_up(std::uint32_t flow, std::uint32_t link, Time now) {
  Sender& sender = senders_[flow];
  sender.queued = true;
  if (sender.next_send > now) {
    outlets_[link].paced.push({sender.next_send, flow});
  } else {
    outlets_[link].ready.push(flow);
  }
}

void Hosts::want_service(std::uint32_t link, Time when) {
  Outlet& outlet = outlets_[link];
  when = std::max(when, links_.port(link).free());
  if (outlet.service_due <= when) { return; }
  outlet.service_due = when;
  clock_.serve_at(link, when);
}

void Hosts::serve(std::uint32_t link) {
  const Time now = clock_.now();
  Outlet& outlet = outlets_[link];
  Port& port = links_.port(link);
  if (outlet.service_due <= now) { outlet.service_due = Time::max(); }
  if (port.free() > now) { return want_service(link, now); }
  Port::Departure departure;
  std::uint32_t flow = 0;
  if (port.depart(now + Time{1}, departure)) {
    links_.launch(link, departure.packet, departure.end);
  } else if (!port.stopped(spec_.data_service, now) && pick(outlet, now, flow)) {
    send_packet(flow, link);
  }
  if (!port.idle()) {
    const Time next = port.next_start();
    if (next != Time::max()) { want_service(link, next); }
  }
  if (port.stopped(spec_.data_service, now)) { return; }  // the end of the pause wakes it
  if (!outlet.ready.empty()) {
    want_service(link, now);
  } else if (!outlet.paced.empty()) {
    want_service(link, outlet.paced.top().when);
  }
}

/// The next flow in turn; those whose time has come join the list at its end.
bool Hosts::pick(Outlet& outlet, Time now, std::uint32_t& flow) {
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

/// Of packet `next`.
std::uint32_t Hosts::payload(Sender& sender) const {
  while (sender.messages.at(sender.sending_message).end <= sender.next) { ++sender.sending_message; }
  const Sender::Message& message = sender.messages.at(sender.sending_message);
  return sender.next + 1 == message.end ? message.last_payload : static_cast<std::uint32_t>(spec_.payload.count());
}

void Hosts::send_packet(std::uint32_t flow, std::uint32_t link) {
  Sender& sender = senders_[flow];
  Port& port = links_.port(link);
  const Time now = clock_.now();
  Packet packet;
  packet.flow = flow;
  packet.number = sender.next;
  packet.sent = now;
  packet.bytes = payload(sender) + static_cast<std::uint32_t>(spec_.header.count());
  packet.hop = links_.plan().flows[flow].first_hop + 1;
  packet.service = spec_.data_service;
  const Time end = now + port.duration(packet.bytes);
  port.hold(end);
  links_.launch(link, packet, end);
  ++counters_.data;
  sender.next_send = std::max(control_->paced(flow, packet.bytes, now), capped(flow, packet.bytes, now));
  note_sent(flow, sender, end);
  arm(flow, sender);
  if (may_send(sender)) { line_up(flow, link, end); }
}

/// When a flow that sends so many bytes, headers included, may go on without exceeding its cap.
Time Hosts::capped(std::uint32_t flow, std::uint32_t bytes, Time start) const {
  const Bandwidth cap = links_.plan().flows[flow].cap;
  return cap == Bandwidth::max() ? start : start + transfer_time(Bytes{bytes} - spec_.header, cap);
}

/// Counts packet `next`, which has been sent and whose last bit leaves at `end`.
void Hosts::note_sent(std::uint32_t flow, Sender& sender, Time end) {
  if (sender.next++ < sender.fresh) {
    ++counters_.repeated;
    return;
  }
  sender.fresh = sender.next;
  if (sender.fresh == sender.messages.at(sender.injected_messages).end) {
    ++sender.injected_messages;
    clock_.injected_at(flow, end);
  }
}

/// One event at a time watches a flow, however often its deadline moves on.
void Hosts::arm(std::uint32_t flow, Sender& sender) {
  sender.deadline = clock_.now() + spec_.timeout;
  if (sender.timer_pending) { return; }
  sender.timer_pending = true;
  clock_.timeout_at(flow, sender.deadline);
}

void Hosts::timeout(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  sender.timer_pending = false;
  if (sender.acknowledged == sender.next) { return; }
  if (sender.deadline > clock_.now()) {
    sender.timer_pending = true;
    return clock_.timeout_at(flow, sender.deadline);
  }
  ++counters_.timeouts;
  go_back(flow, sender.acknowledged);
}

void Hosts::go_back(std::uint32_t flow, std::uint32_t to) {
  Sender& sender = senders_[flow];
  if (to >= sender.next) { return; }
  sender.next = to;
  sender.sending_message = 0;
  arm(flow, sender);
  queue_up(flow);
}

void Hosts::arrive(std::uint32_t link) {
  Ring<Flight>& flights = links_.flights(link);
  while (!flights.empty() && flights.front().when <= clock_.now()) {
    const Packet packet = flights.front().packet;
    flights.pop();
    if (!links_.at_end(packet)) {
      pass_on(packet);
    } else if (packet.kind == PacketKind::data) {
      receive_data(packet.flow, packet);
    } else {
      receive_reply(packet.flow, packet);
    }
  }
}

/// For somebody else. A host has room for all of them.
void Hosts::pass_on(Packet packet) {
  const std::uint32_t link = links_.next_hop(packet);
  ++packet.hop;
  enqueue(link, packet);
}

/// Serves an idle port at once, so that it costs no event.
void Hosts::enqueue(std::uint32_t link, const Packet& packet) {
  links_.port(link).enqueue(packet, clock_.now());
  if (links_.port(link).free() <= clock_.now()) {
    serve(link);
  } else {
    want_service(link, clock_.now());
  }
}

void Hosts::receive_data(std::uint32_t flow, const Packet& packet) {
  Receiver& receiver = receivers_[flow];
  const Time now = clock_.now();
  if (packet.marked && spec_.control == TransportSpec::Control::dcqcn && now >= receiver.next_notice) {
    receiver.next_notice = now + spec_.dcqcn.notice_interval;
    ++counters_.notices;
    reply(packet, PacketKind::congestion_notice, 0);
  }
  if (packet.number == receiver.expected && !packet.trimmed) {
    take_in(flow, receiver, packet);
  } else if (packet.number < receiver.expected) {
    reply(packet, PacketKind::acknowledgement, receiver.expected);  // its acknowledgement was lost
  } else if (!receiver.missing_told) {
    receiver.missing_told = true;
    reply(packet, PacketKind::negative, receiver.expected);
  }
}

/// The packet that was to come.
void Hosts::take_in(std::uint32_t flow, Receiver& receiver, const Packet& packet) {
  Sender& sender = senders_[flow];
  const PacketPlan::Flow& plan = links_.plan().flows[flow];
  const Sender::Message message = sender.messages.at(sender.delivered_messages);
  const Time there = clock_.now() + plan.software;
  ++receiver.expected;
  receiver.missing_told = false;
  receiver.arrived += packet.bytes - spec_.header.count();
  if (!receiver.grain_told && plan.grain > Bytes::zero() &&
      receiver.arrived >= std::min(plan.grain.count(), message.bytes)) {
    receiver.grain_told = true;
    clock_.grain_arrived_at(flow, there);
  }
  const bool last = receiver.expected == message.end;
  if (last) {
    receiver.arrived = 0;
    receiver.grain_told = false;
    ++sender.delivered_messages;
    clock_.delivered_at(flow, there);
  }
  if (++receiver.unacknowledged >= spec_.acknowledge_every || last) {
    receiver.unacknowledged = 0;
    reply(packet, PacketKind::acknowledgement, receiver.expected);
  }
}

void Hosts::reply(const Packet& to, PacketKind kind, std::uint32_t number) {
  Packet packet;
  packet.flow = to.flow;
  packet.kind = kind;
  packet.number = number;
  packet.sent = to.sent;
  packet.marked = to.marked;
  packet.bytes = static_cast<std::uint32_t>(spec_.reply.count());
  packet.service = spec_.reply_service;
  packet.hop = links_.plan().flows[to.flow].first_hop_back;
  const std::uint32_t link = links_.next_hop(packet);
  ++packet.hop;
  ++counters_.replies;
  enqueue(link, packet);
}

void Hosts::receive_reply(std::uint32_t flow, const Packet& packet) {
  if (packet.kind == PacketKind::congestion_notice) { return control_->congestion_notice(flow, clock_.now()); }
  Sender& sender = senders_[flow];
  if (packet.number > sender.acknowledged) {
    require(packet.number <= sender.fresh, "flow {}: packet {} acknowledged, {} sent", flow, packet.number,
            sender.fresh);
    sender.acknowledged = packet.number;
    sender.deadline = clock_.now() + spec_.timeout;
    forget_acknowledged(sender);
  }
  if (packet.kind == PacketKind::negative) { go_back(flow, packet.number); }
  sender.next = std::max(sender.next, sender.acknowledged);
  queue_up(flow);
}

void Hosts::forget_acknowledged(Sender& sender) {
  while (!sender.messages.empty() && sender.messages.front().end <= sender.acknowledged) {
    sender.messages.pop();
    --sender.delivered_messages;
    --sender.injected_messages;
    sender.sending_message -= sender.sending_message > 0 ? 1 : 0;
  }
}

}  // namespace athanor
