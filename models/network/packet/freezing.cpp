// How FastForward freezes a part of the network, and how the part goes on.

#include <algorithm>
#include <map>

#include "models/network/packet/fast_forward.hpp"

namespace athanor {

/// What was measured over slightly different spans may come to a little more than a port lets through.
void FastForward::keep_to_ports(const Part& part, std::vector<PacketRate>& rates) const {
  const PacketTopology& plan = links_.plan();
  std::map<LinkIndex, double> busy;
  for (std::size_t place = 0; place < part.flows.size(); ++place) {
    const PacketTopology::Flow& flow = plan.flows[part.flows[place]];
    for (std::uint32_t h = 0; h < flow.hops * flow.paths; ++h) {
      const LinkIndex link = plan.hops[flow.first_hop + h];
      busy[link] += rates[place].per_picosecond() / flow.paths *
                    static_cast<double>(links_.port(link).duration(hosts_.full_packet()).count());
    }
  }
  for (std::size_t place = 0; place < part.flows.size(); ++place) {
    const PacketTopology::Flow& flow = plan.flows[part.flows[place]];
    double most = 1;
    for (std::uint32_t h = 0; h < flow.hops * flow.paths; ++h) {
      most = std::max(most, busy[plan.hops[flow.first_hop + h]]);
    }
    PacketRate& rate = rates[place];
    rate.span = Time{static_cast<std::int64_t>(static_cast<double>(rate.span.count()) * most) + 1};
  }
}

/// A part stays frozen until the first of its flows has next to nothing left to send.
Time FastForward::until(const Part& part) const {
  constexpr std::uint32_t kLeast = 2;  // packets
  Time until = part.budget;
  for (std::size_t place = 0; place < part.flows.size(); ++place) {
    const PacketRate& rate = part.rates[place];
    const std::uint32_t supply = hosts_.supply(part.flows[place]);
    const std::uint32_t margin = rate.within(quantum_ * 2) + kLeast;
    if (supply <= margin) { return part.since; }
    until = std::min(until, part.since + rate.time_of(supply - margin));
  }
  return part.since + quantum_ * ((until - part.since).count() / quantum_.count());
}

void FastForward::freeze(std::uint32_t number, const SettlingHistory::Settled& settled) {
  constexpr std::int64_t kWorthwhile = 2;  // rows
  Part& part = *parts_[number];
  if (settled.skip <= Time::zero()) { return; }
  part.since = clock_.now();
  part.rates = settled.rates;
  part.budget = part.since + settled.skip;
  part.until = until(part);
  if (part.until < part.since + part.history.distance() * kWorthwhile) { return; }
  part.frozen = true;
  part.links = dividing_.links_of(part.flows);
  for (const LinkIndex link : part.links) {
    part_of_link_[link] = number;
    links_.port(link).hold(part.since);
    links_.delay(link, kFar);
  }
  for (std::size_t place = 0; place < part.flows.size(); ++place) { ask_for_milestone(part, place); }
  clock_.thaw_at(number, part.until);
}

void FastForward::ask_for_milestone(const Part& part, std::size_t place) {
  const ConnectionId flow = part.flows[place];
  milestone_due_[flow] = Time::max();
  const std::optional<std::uint32_t> packets = hosts_.next_milestone(flow);
  if (!packets) { return; }
  const Time when = part.since + part.rates[place].time_of(*packets);
  if (when > part.until) { return; }  // thawing tells it
  milestone_due_[flow] = std::max(when, clock_.now());
  clock_.milestone_at(flow, milestone_due_[flow]);
}

void FastForward::milestone(ConnectionId flow) {
  if (milestone_due_[flow] != clock_.now() || part_of_[flow] == kNone) { return; }
  const Part& part = *parts_[part_of_[flow]];
  if (!part.frozen) { return; }
  hosts_.tell(flow, part.rates[place_[flow]].within(clock_.now() - part.since));
  ask_for_milestone(part, place_[flow]);
}

Bytes FastForward::arrived(ConnectionId flow) const {
  if (part_of_[flow] == kNone || !parts_[part_of_[flow]]->frozen) { return hosts_.arrived(flow); }
  const Part& part = *parts_[part_of_[flow]];
  return hosts_.arrived_after(flow, part.rates[place_[flow]].within(clock_.now() - part.since));
}

/// Flows may have been given more to send since.
void FastForward::thaw_due(std::uint32_t number) {
  if (number >= parts_.size() || !parts_[number] || !parts_[number]->frozen) { return; }
  Part& part = *parts_[number];
  if (part.until != clock_.now()) { return; }
  const Time later = until(part);
  if (later <= part.until) { return thaw(number); }
  part.until = later;
  for (std::size_t place = 0; place < part.flows.size(); ++place) { ask_for_milestone(part, place); }
  clock_.thaw_at(number, later);
}

void FastForward::thaw(std::uint32_t number) {
  Part& part = *parts_[number];
  const Time by = rounded_up(clock_.now() - part.since, quantum_);
  std::vector<std::uint32_t> packets;
  for (std::size_t place = 0; place < part.flows.size(); ++place) {
    packets.push_back(part.rates[place].within(by));
    hosts_.tell(part.flows[place], packets.back());
  }
  part.frozen = false;
  move_packets(part, by, packets);
  for (std::size_t place = 0; place < part.flows.size(); ++place) {
    const ConnectionId flow = part.flows[place];
    hosts_.skip(flow, by, packets[place]);
    switches_.skip(flow, by);
    if (links_.telemetry() != nullptr) { links_.telemetry()->skip(flow, by, packets[place]); }
    counters_.packets += packets[place];
    counters_.skipped += by;
  }
  ++counters_.skips;
  part.history.skip(by, packets);
  part.next_row += by;
  resume(part, part.since + by + quantum_);
  look_later();
}

void FastForward::move_packets(const Part& part, Time by, const std::vector<std::uint32_t>& packets) {
  const PacketTopology& plan = links_.plan();
  for (std::size_t place = 0; place < part.flows.size(); ++place) {
    const PacketTopology::Flow& flow = plan.flows[part.flows[place]];
    skipped_[part.flows[place]] = packets[place];
    hosts_.for_supply(part.flows[place], packets[place], [&](std::uint32_t count, std::uint32_t bytes) {
      for (std::uint32_t path = 0; path < flow.paths; ++path) {
        const std::uint32_t own = count / flow.paths + (path < count % flow.paths ? 1 : 0);
        for (std::uint32_t h = 0; h < flow.hops; ++h) {
          links_.carry(plan.hops[flow.first_hop + path * flow.hops + h], own, bytes);
        }
      }
    });
  }
  for (const LinkIndex link : part.links) {
    part_of_link_[link] = kNone;
    links_.delay(link, by - kFar);
    links_.for_packets(link, [&](Packet& packet) {
      packet.sent += by;
      packet.number += skipped_[packet.flow];
    });
    hosts_.skip_at(link, by);
  }
  for (const ConnectionId flow : part.flows) { skipped_[flow] = 0; }
}

/// Whatever was to wake hosts and switches may have gone by. `begin`: nothing happens at switches earlier.
void FastForward::resume(const Part& part, Time begin) {
  for (const LinkIndex link : part.links) {
    const PacketTopology::Link& ends = links_.link(link);
    const Ring<Flight>& flights = links_.flights(link);
    if (!flights.empty() && links_.leads_to_host(link)) {
      clock_.arrive_at(link, std::max(flights.front().when, clock_.now()));
    }
    for (const DeviceIndex device : {ends.source, ends.target}) {
      if (!links_.plan().devices[device].host) { clock_.work_at(device, begin); }
    }
    hosts_.resume_at(link);
  }
  for (const ConnectionId flow : part.flows) { hosts_.resume(flow); }
}

}  // namespace athanor
