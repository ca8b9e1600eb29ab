#include <algorithm>

#include "models/network/packet/hosts.hpp"
#include "sim/check.hpp"

namespace athanor {

void Hosts::arrive(LinkIndex link) {
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

void Hosts::receive_data(ConnectionId flow, const Packet& packet) {
  Receiver& receiver = receivers_[flow];
  const Time now = clock_.now();
  if (packet.marked && notice_interval_ && now >= receiver.next_notice) {
    receiver.next_notice = now + *notice_interval_;
    ++counters_.notices;
    reply(packet, PacketKind::congestion_notice, 0, true);
  }
  if (selective()) {
    receive_in_any_order(flow, receiver, packet);
  } else {
    receive_in_order(flow, receiver, packet);
  }
}

void Hosts::receive_in_order(ConnectionId flow, Receiver& receiver, const Packet& packet) {
  receiver.marked = receiver.marked || packet.marked;
  if (packet.number == receiver.expected && !packet.trimmed) {
    receiver.missing_told = false;
    const bool last = accept(flow, receiver);
    if (++receiver.unacknowledged < spec_.acknowledge_every && !last) { return; }
    receiver.unacknowledged = 0;
    reply(packet, PacketKind::acknowledgement, receiver.expected, receiver.marked);
    receiver.marked = false;
  } else if (packet.number < receiver.expected) {
    reply(packet, PacketKind::acknowledgement, receiver.expected, packet.marked);  // its acknowledgement was lost
  } else if (!receiver.missing_told) {
    receiver.missing_told = true;
    reply(packet, PacketKind::negative, receiver.expected, packet.marked);
  }
}

/// What is missing between packets that kept their order on one path is lost; on many paths nothing can be said. What
/// was trimmed overtakes what was not, and tells of itself alone.
void Hosts::receive_in_any_order(ConnectionId flow, Receiver& receiver, const Packet& packet) {
  if (!spec_.any_order && !packet.trimmed) {
    for (; receiver.highest < packet.number; ++receiver.highest) {
      if (receiver.there.has(receiver.highest)) { continue; }
      ++receiver.needed;
      reply(packet, PacketKind::negative, receiver.highest, false);
    }
  }
  receiver.highest = std::max(receiver.highest, packet.number + 1);
  if (pulled_) { ask_for_more(flow, packet); }
  if (packet.trimmed) { return reply(packet, PacketKind::negative, packet.number, packet.marked); }
  reply(packet, PacketKind::acknowledgement, packet.number, packet.marked);
  receiver.ahead += receiver.there.add(packet.number) ? 1 : 0;
  for (; receiver.expected < receiver.there.first(); --receiver.ahead) { accept(flow, receiver); }
  if (foresees_) { watch_arriving(flow); }
}

/// The packet that was to come. True where its message is then there.
bool Hosts::accept(ConnectionId flow, Receiver& receiver) {
  const PacketTopology::Flow& plan = links_.plan().flows[flow];
  const Sender::Message message = receiver.messages.front();
  const Time there = clock_.now() + plan.software;
  ++receiver.expected;
  receiver.latest = clock_.now();
  const bool last = receiver.expected == message.end;
  receiver.arrived += last ? message.last_payload : spec_.payload.count();
  if (!receiver.grain_told && plan.grain > Bytes::zero() &&
      receiver.arrived >= std::min(plan.grain.count(), message.bytes)) {
    receiver.grain_told = true;
    clock_.grain_arrived_at(flow, there);
  }
  if (last) {
    receiver.arrived = 0;
    receiver.grain_told = false;
    receiver.messages.pop();
    clock_.delivered_at(flow, there);
  }
  if (foresees_) { watch_arriving(flow); }
  return last;
}

void Hosts::reply(const Packet& to, PacketKind kind, std::uint32_t number, bool marked) {
  Packet packet;
  packet.flow = to.flow;
  packet.kind = kind;
  packet.number = number;
  packet.sent = to.sent;
  packet.marked = marked;
  packet.bytes = static_cast<std::uint32_t>(spec_.reply.count());
  packet.service = spec_.reply_service;
  packet.hop = links_.plan().flows[to.flow].first_hop_back;
  const LinkIndex link = links_.next_hop(packet);
  ++packet.hop;
  ++counters_.replies;
  enqueue(link, packet);
}

void Hosts::receive_reply(ConnectionId flow, const Packet& packet) {
  if (packet.kind == PacketKind::congestion_notice) { return control_->congestion_notice(flow, clock_.now()); }
  Sender& sender = senders_[flow];
  if (packet.kind == PacketKind::pull) {
    ++sender.credit;
    return queue_up(flow);
  }
  const std::uint32_t fresh = note_acknowledged(sender, packet);
  if (fresh > 0) {
    sender.deadline = clock_.now() + spec_.timeout;
    const std::uint32_t answered = selective() ? packet.number : packet.number - 1;
    control_->acknowledged(flow, {fresh, sender.acknowledged, sender.fresh, packet.marked, clock_.now() - packet.sent,
                                  clock_.now(), answered});
  }
  if (packet.kind == PacketKind::negative) { missing(flow, packet); }
  set_window(flow);
  queue_up(flow);
}

/// How many packets are known to be there for the first time.
std::uint32_t Hosts::note_acknowledged(Sender& sender, const Packet& packet) {
  const std::uint32_t before = sender.acknowledged;
  if (selective()) {
    if (packet.kind == PacketKind::negative || !sender.there.add(packet.number)) { return 0; }
    require(packet.number < sender.fresh, "flow {}: packet {} acknowledged, {} sent", packet.flow.value, packet.number,
            sender.fresh);
    sender.acknowledged = sender.there.first();
    sender.outstanding -= sender.outstanding > 0 ? 1 : 0;  // what was given up by a timeout may arrive all the same
    forget_acknowledged(sender);
    return 1;
  }
  if (packet.number <= before) { return 0; }
  require(packet.number <= sender.fresh, "flow {}: packet {} acknowledged, {} sent", packet.flow.value, packet.number,
          sender.fresh);
  sender.acknowledged = packet.number;
  sender.next = std::max(sender.next, sender.acknowledged);
  sender.outstanding = sender.next - sender.acknowledged;
  forget_acknowledged(sender);
  return packet.number - before;
}

/// A packet that the receiver misses.
void Hosts::missing(ConnectionId flow, const Packet& packet) {
  Sender& sender = senders_[flow];
  control_->lost(flow, progress(sender, packet.number));
  if (!selective()) { return go_back(flow, packet.number); }
  if (sender.there.has(packet.number)) { return; }
  sender.repeats.push(packet.number);
  sender.outstanding -= sender.outstanding > 0 ? 1 : 0;
  arm(flow, sender);
}

void Hosts::forget_acknowledged(Sender& sender) {
  while (!sender.messages.empty() && sender.messages.front().end <= sender.acknowledged) {
    sender.messages.pop();
    --sender.injected_messages;
    sender.sending_message -= sender.sending_message > 0 ? 1 : 0;
  }
}

/// What a sender may send unasked: a first window whenever it had nothing to send.
void Hosts::grant_first_window(ConnectionId flow) {
  Sender& sender = senders_[flow];
  Receiver& receiver = receivers_[flow];
  const std::uint32_t most = std::min(initial_packets(spec_), receiver.needed - receiver.granted);
  const bool idle = sender.messages.size() == 1 || sender.messages.at(sender.messages.size() - 2).end == sender.next;
  if (!idle || most <= sender.credit) { return; }
  receiver.granted += most - sender.credit;
  sender.credit = most;
}

/// After a timeout: a window of what was lost goes unasked, and the receiver asks for as many packets more.
void Hosts::grant_repeats(ConnectionId flow) {
  Sender& sender = senders_[flow];
  Receiver& receiver = receivers_[flow];
  const std::uint32_t window = std::min(sender.repeats.size(), initial_packets(spec_));
  const std::uint32_t granted = window > sender.credit ? window - sender.credit : 0;
  receiver.needed += sender.repeats.size();
  receiver.granted += granted;
  sender.credit += granted;
}

/// Each packet that arrives, whole or trimmed, makes room for another on the way, of any flow that has one to send.
void Hosts::ask_for_more(ConnectionId flow, const Packet& packet) {
  Receiver& receiver = receivers_[flow];
  if (packet.trimmed) { ++receiver.needed; }
  if (receiver.granted >= receiver.needed) { return; }
  ++receiver.granted;
  const LinkIndex link = last_link(flow);
  Inlet& inlet = inlets_[link];
  inlet.flows.push(flow);
  if (inlet.due) { return; }
  inlet.due = true;
  clock_.pull_at(link, std::max(clock_.now(), inlet.next));
}

/// Asks so often that what comes fills the link and no queue.
void Hosts::pull(LinkIndex link) {
  Inlet& inlet = inlets_[link];
  const ConnectionId flow = inlet.flows.front();
  inlet.flows.pop();
  inlet.due = !inlet.flows.empty();
  inlet.next =
      clock_.now() + links_.port(link).duration(static_cast<std::uint32_t>((spec_.payload + spec_.header).count()));
  if (inlet.due) { clock_.pull_at(link, inlet.next); }
  ++counters_.pulls;
  Packet asked;
  asked.flow = flow;
  asked.sent = clock_.now();
  reply(asked, PacketKind::pull, 0, false);
}

}  // namespace athanor
