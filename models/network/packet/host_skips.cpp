#include <algorithm>

#include "models/network/packet/hosts.hpp"
#include "sim/check.hpp"

namespace athanor {

FlowSample Hosts::sample(ConnectionId flow) const {
  const Sender& sender = senders_[flow];
  const Receiver& receiver = receivers_[flow];
  const bool full = sender.outstanding >= sender.window;
  return {receiver.expected,
          receiver.latest,
          sender.outstanding,
          control_->level(flow),
          full || control_->paces(flow),
          control_->has_timers(flow)};
}

/// Of receivers that ask it has to last for what they have asked for.
std::uint32_t Hosts::supply(ConnectionId flow) const {
  const Sender& sender = senders_[flow];
  const std::uint32_t first = pulled_ ? std::max(sender.fresh, receivers_[flow].granted) : sender.fresh;
  return sender.end > first ? sender.end - first : 0;
}

void Hosts::append(ConnectionId flow, Bytes size) { add_message(flow, size); }

/// Number of the first packet of the message that is arriving. Requires that there is one.
std::uint32_t Hosts::arriving_begin(const Receiver& receiver) const {
  const Sender::Message& message = receiver.messages.front();
  return message.end -
         static_cast<std::uint32_t>(std::max<std::int64_t>(1, ceil_div(message.bytes, spec_.payload.count())));
}

std::optional<std::uint32_t> Hosts::next_milestone(ConnectionId flow) const {
  const Sender& sender = senders_[flow];
  const Receiver& receiver = receivers_[flow];
  std::optional<std::uint32_t> next;
  const auto consider = [&](std::uint32_t packets) { next = next ? std::min(*next, packets) : packets; };
  if (sender.injected_messages < sender.messages.size()) {
    consider(sender.messages.at(sender.injected_messages).end - sender.fresh);
  }
  if (!receiver.messages.empty()) {
    const Sender::Message& message = receiver.messages.front();
    consider(message.end - receiver.expected);
    const Bytes grain = links_.plan().flows[flow].grain;
    if (grain > Bytes::zero() && !receiver.grain_told) {
      const std::int64_t packets = ceil_div(std::min(grain.count(), message.bytes), spec_.payload.count());
      const std::uint32_t there = arriving_begin(receiver) + static_cast<std::uint32_t>(packets);
      consider(there > receiver.expected ? there - receiver.expected : 0);
    }
  }
  return next;
}

Bytes Hosts::arrived_after(ConnectionId flow, std::uint32_t packets) const {
  const Receiver& receiver = receivers_[flow];
  if (receiver.messages.empty()) { return Bytes::zero(); }
  const std::uint32_t there = receiver.expected + packets - arriving_begin(receiver);
  return std::min(Bytes{receiver.messages.front().bytes}, spec_.payload * there);
}

void Hosts::tell(ConnectionId flow, std::uint32_t packets) {
  Sender& sender = senders_[flow];
  Receiver& receiver = receivers_[flow];
  const PacketTopology::Flow& plan = links_.plan().flows[flow];
  const Time there = clock_.now() + plan.software;
  while (sender.injected_messages < sender.messages.size() &&
         sender.messages.at(sender.injected_messages).end <= sender.fresh + packets) {
    ++sender.injected_messages;
    clock_.injected_at(flow, clock_.now());
  }
  while (!receiver.messages.empty()) {
    const Sender::Message& message = receiver.messages.front();
    const std::int64_t grain = ceil_div(std::min(plan.grain.count(), message.bytes), spec_.payload.count());
    if (plan.grain > Bytes::zero() && !receiver.grain_told &&
        arriving_begin(receiver) + grain <= receiver.expected + packets) {
      receiver.grain_told = true;
      clock_.grain_arrived_at(flow, there);
    }
    if (message.end > receiver.expected + packets) { break; }
    receiver.grain_told = false;
    receiver.messages.pop();
    clock_.delivered_at(flow, there);
  }
}

void Hosts::skip(ConnectionId flow, Time by, std::uint32_t packets) {
  Sender& sender = senders_[flow];
  Receiver& receiver = receivers_[flow];
  require(packets <= sender.end - sender.fresh, "flow {}: {} packets skipped, {} left", flow.value, packets,
          sender.end - sender.fresh);
  sender.next_send += by;
  sender.deadline += by;
  for (std::uint32_t* number :
       {&sender.next, &sender.fresh, &sender.acknowledged, &receiver.expected, &receiver.highest}) {
    *number += packets;
  }
  for (std::uint32_t k = 0; k < sender.repeats.size(); ++k) { sender.repeats.at(k) += packets; }
  sender.there.skip(packets);
  receiver.there.skip(packets);
  receiver.next_notice += by;
  receiver.latest += by;
  receiver.granted = std::min(receiver.granted + packets, std::max(receiver.granted, receiver.needed));
  forget_acknowledged(sender);
  sender.sending_message = 0;
  while (sender.next != sender.end && sender.messages.at(sender.sending_message).end <= sender.next) {
    ++sender.sending_message;
  }
  receiver.arrived = 0;
  if (!receiver.messages.empty()) {
    receiver.arrived = (receiver.expected - arriving_begin(receiver)) * spec_.payload.count();
  }
  control_->skip(flow, by, packets);
}

void Hosts::skip_at(LinkIndex link, Time by) {
  Outlet& outlet = outlets_[link];
  std::vector<Paced> paced;
  for (; !outlet.paced.empty(); outlet.paced.pop()) { paced.push_back(outlet.paced.top()); }
  for (Paced& each : paced) { outlet.paced.push({each.when + by, each.flow}); }
  if (pulled_) { inlets_[link].next += by; }
}

/// What was to wake it has gone by while it had stopped.
void Hosts::resume(ConnectionId flow) {
  Sender& sender = senders_[flow];
  if (sender.timer_pending) { clock_.timeout_at(flow, std::max(sender.deadline, clock_.now())); }
  queue_up(flow);
}

void Hosts::resume_at(LinkIndex link) {
  if (pulled_ && inlets_[link].due) { clock_.pull_at(link, std::max(clock_.now(), inlets_[link].next)); }
  if (!links_.plan().devices[links_.link(link).source].host) { return; }
  outlets_[link].service_due = Time::max();
  links_.port(link).for_pauses([&](Time when) { clock_.serve_at(link, std::max(clock_.now(), when)); });
  request_service(link, clock_.now());
}

}  // namespace athanor
