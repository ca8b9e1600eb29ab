#include <algorithm>

#include "models/network/packet/hosts.hpp"

namespace athanor {

void Hosts::foresee(Time window) {
  foresees_ = true;
  all_.window = window;
  all_.near_end.reserve(links_.plan().links.size());
  for (const LinkIndex link : links_.plan().links.ids()) {
    const std::int64_t each = std::max<std::int64_t>(1, links_.port(link).medium().time(full_packet_).count());
    all_.near_end.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(window.count() / each + 2, INT32_MAX)));
  }
}

/// Calls each(link) for the links by which packets of a flow reach its receiver, some of them several times.
template <class Each>
void Hosts::for_last_links(ConnectionId flow, const Each& each) const {
  const PacketTopology::Flow& plan = links_.plan().flows[flow];
  for (std::uint32_t path = 0; path < plan.paths; ++path) {
    each(links_.plan().hops[plan.first_hop + path * plan.hops + plan.hops - 1]);
  }
}

void Hosts::watch_leaving(ConnectionId flow) {
  Sender& sender = senders_[flow];
  if (sender.ending || sender.injected_messages == sender.messages.size()) { return; }
  const std::uint32_t left = sender.messages.at(sender.injected_messages).end - sender.fresh;
  if (left > all_.near_end[first_link(flow)]) { return; }
  sender.ending = true;
  ending_.push_back(flow);
}

/// The packet with whose arrival there will be something to be told of the oldest message. Requires that there is one.
std::uint32_t Hosts::next_told(ConnectionId flow, const Receiver& receiver) const {
  const Sender::Message& message = receiver.messages.front();
  const Bytes grain = links_.plan().flows[flow].grain;
  if (grain == Bytes::zero() || receiver.grain_told) { return message.end - 1; }
  const std::int64_t packets = ceil_div(std::min(grain.count(), message.bytes), spec_.payload.count());
  return arriving_begin(receiver) + static_cast<std::uint32_t>(std::max<std::int64_t>(packets, 1)) - 1;
}

/// What comes so late that it lies beyond the window anyway needs no watching.
void Hosts::watch_arriving(ConnectionId flow) {
  Receiver& receiver = receivers_[flow];
  if (receiver.closing || receiver.messages.empty()) { return; }
  if (links_.plan().flows[flow].software >= all_.window) { return; }
  std::uint32_t near = 0;
  for_last_links(flow, [&](LinkIndex link) { near = std::max(near, all_.near_end[link]); });
  if (next_told(flow, receiver) + 1 > receiver.expected + receiver.ahead + near) { return; }
  receiver.closing = true;
  closing_.push_back(flow);
}

/// Of a flow near the end of a message: when that can have left at the earliest; none: it is not near any more.
std::optional<Time> Hosts::earliest_injection(ConnectionId flow) {
  const Sender& sender = senders_[flow];
  if (sender.injected_messages == sender.messages.size()) { return std::nullopt; }
  const Sender::Message& message = sender.messages.at(sender.injected_messages);
  const std::uint32_t left = message.end - sender.fresh;
  const LinkIndex link = first_link(flow);
  if (left > all_.near_end[link]) { return std::nullopt; }
  Port& port = links_.port(link);
  const std::uint32_t last = message.last_payload + static_cast<std::uint32_t>(spec_.header.count());
  return std::max(clock_.now(), port.free()) + port.duration(full_packet_) * (left - 1) + port.duration(last);
}

/// Of a flow of which there may soon be something to be told: when, at the earliest of what is in flight; none: it will
/// not be within a window.
std::optional<Time> Hosts::earliest_arrival(ConnectionId flow, Time end) {
  const Receiver& receiver = receivers_[flow];
  if (receiver.messages.empty()) { return std::nullopt; }
  const std::uint32_t told = next_told(flow, receiver);
  std::uint32_t near = 0;
  Time earliest = end;
  for_last_links(flow, [&](LinkIndex link) {
    near = std::max(near, all_.near_end[link]);
    const Ring<Flight>& flights = links_.flights(link);
    for (std::uint32_t k = 0; k < flights.size() && flights.at(k).when < earliest; ++k) {
      const Packet& packet = flights.at(k).packet;
      if (packet.flow != flow || packet.kind != PacketKind::data || packet.trimmed) { continue; }
      if (selective() || packet.number == told) { earliest = flights.at(k).when; }
    }
  });
  if (told + 1 > receiver.expected + receiver.ahead + near) { return std::nullopt; }
  return std::min(end, earliest + links_.plan().flows[flow].software);
}

Time Hosts::earliest_call(Time end) {
  const auto look = [&](std::vector<ConnectionId>& flows, const auto& when, const auto& leave) {
    std::size_t kept = 0;
    for (const ConnectionId flow : flows) {
      if (const std::optional<Time> call = when(flow)) {
        end = std::min(end, *call);
        flows[kept++] = flow;
      } else {
        leave(flow);
      }
    }
    flows.resize(kept);
  };
  const Time last = end;
  look(
      ending_, [&](ConnectionId flow) { return earliest_injection(flow); },
      [&](ConnectionId flow) { senders_[flow].ending = false; });
  look(
      closing_, [&](ConnectionId flow) { return earliest_arrival(flow, last); },
      [&](ConnectionId flow) { receivers_[flow].closing = false; });
  return end;
}

}  // namespace athanor
