#include "models/network/packet/fast_forward.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

Time rounded_up(Time time, Time to) { return to * ((time + to - Time{1}).count() / to.count()); }

/// Is there a switch, whose windows skips have to keep to?
Time quantum_of(const PacketTopology& plan, Time window) {
  constexpr Time kHostsAlone{1'000};
  for (const PacketTopology::Device& device : plan.devices) {
    if (!device.host) { return window; }
  }
  return kHostsAlone;
}

}  // namespace

FastForward::FastForward(PacketLinks& links, Hosts& hosts, Switches& switches, FastForwardClock& clock, Time window,
                         double bound)
    : links_(links),
      hosts_(hosts),
      switches_(switches),
      clock_(clock),
      quantum_(quantum_of(links.plan(), window)),
      bound_(bound),
      dividing_(links.plan()),
      part_of_(links.plan().flows.size(), kNone),
      place_(links.plan().flows.size()),
      is_active_(links.plan().flows.size()),
      began_(links.plan().flows.size()),
      skipped_(links.plan().flows.size()),
      part_of_link_(links.plan().links.size(), kNone),
      arrival_due_(links.plan().links.size()),
      pull_due_(links.plan().links.size()),
      timeout_due_(links.plan().flows.size()),
      milestone_due_(links.plan().flows.size()) {
  period_ = Time::max();
  for (const ConnectionId flow : links.plan().flows.ids()) {
    if (links.plan().flows[flow].hops > 0) { period_ = std::min(period_, row_distance({flow})); }
  }
}

/// A round trip of a full packet, of the longest path, in whole windows: what switches and controls do about others
/// takes that long. Flows that meet nobody have nothing to wait for but their first acknowledgements.
Time FastForward::row_distance(const std::vector<ConnectionId>& flows) const {
  constexpr std::int64_t kRowsOfLone = 4;  // in a round trip
  Time longest;
  for (const ConnectionId flow : flows) {
    Time round_trip;
    for_links_of(links_.plan(), flow, [&](LinkIndex link) {
      round_trip += links_.link(link).latency + links_.port(link).duration(hosts_.full_packet());
    });
    const std::uint32_t paths = links_.plan().flows[flow].paths;
    longest = std::max(longest, Time{round_trip.count() / paths});
  }
  return rounded_up(dividing_.meet(flows) ? longest : Time{longest.count() / kRowsOfLone}, quantum_);
}

void FastForward::look_later() {
  if (looking_) { return; }
  looking_ = true;
  clock_.look_at(rounded_up(clock_.now() + Time{1}, rounded_up(period_, quantum_) * periods_));
}

bool FastForward::begins(ConnectionId flow) {
  if (is_active_[flow] != 0) {
    if (part_of_[flow] == kNone) { return false; }
    Part& part = *parts_[part_of_[flow]];
    if (!part.frozen && hosts_.supply(flow) == 0) { part.forget(); }  // it paused
    return part.frozen;
  }
  is_active_[flow] = 1;
  began_[flow] = clock_.now();
  active_.push_back(flow);
  changed_ = true;
  for_links_of(links_.plan(), flow, [&](LinkIndex link) {
    if (part_of_link_[link] != kNone) { thaw(part_of_link_[link]); }
  });
  look_later();
  return false;
}

void FastForward::look() {
  looking_ = false;
  periods_ = 1;
  clock_.finish_window();
  drop_finished();
  if (changed_) { divide(); }
  bool awake = false;
  for (std::uint32_t number = 0; number < parts_.size(); ++number) {
    if (!parts_[number] || parts_[number]->frozen) { continue; }
    if (clock_.now() >= parts_[number]->next_row) { look_at(number); }
    awake = awake || !parts_[number]->frozen;
  }
  if (awake) { look_later(); }
}

void FastForward::drop_finished() {
  std::size_t kept = 0;
  for (const ConnectionId flow : active_) {
    const bool frozen = part_of_[flow] != kNone && parts_[part_of_[flow]]->frozen;
    if (frozen || hosts_.busy(flow)) {
      active_[kept++] = flow;
      continue;
    }
    is_active_[flow] = 0;
    counters_.active += clock_.now() - began_[flow];
    changed_ = true;
  }
  active_.resize(kept);
}

/// Finds the parts of those that are not frozen. A part of the same flows as before keeps its history. Where none does,
/// flows come and go too fast for any to settle, and it is looked at them less often until one does.
void FastForward::divide() {
  constexpr std::uint32_t kMostPeriods = 8;
  changed_ = false;
  std::vector<ConnectionId> awake;
  for (const ConnectionId flow : active_) {
    if (part_of_[flow] == kNone || !parts_[part_of_[flow]]->frozen) { awake.push_back(flow); }
  }
  std::sort(awake.begin(), awake.end());
  std::vector<std::vector<ConnectionId>> fresh;
  std::vector<bool> kept(parts_.size());
  fruitless_ = std::min(2 * fruitless_, kMostPeriods);
  for (std::vector<ConnectionId>& flows : dividing_.of(awake)) {
    const std::uint32_t before = part_of_[flows.front()];
    if (before != kNone && parts_[before]->flows == flows) {
      kept[before] = true;
      fruitless_ = 1;
    } else {
      fresh.push_back(std::move(flows));
    }
  }
  for (std::uint32_t number = 0; number < kept.size(); ++number) {
    if (!parts_[number] || kept[number] || parts_[number]->frozen) { continue; }
    for (const ConnectionId flow : parts_[number]->flows) { part_of_[flow] = kNone; }
    parts_[number].reset();
    free_.push_back(number);
  }
  for (std::vector<ConnectionId>& flows : fresh) { add_part(std::move(flows)); }
  periods_ = fruitless_;
}

std::uint32_t FastForward::add_part(std::vector<ConnectionId> flows) {
  std::uint32_t number = static_cast<std::uint32_t>(parts_.size());
  if (free_.empty()) {
    parts_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  for (std::uint32_t place = 0; place < flows.size(); ++place) {
    part_of_[flows[place]] = number;
    place_[flows[place]] = place;
  }
  SettlingHistory history(dividing_.kinds_of(flows), row_distance(flows));
  parts_[number] = std::make_unique<Part>(std::move(flows), std::move(history), clock_.now());
  return number;
}

void FastForward::row(Part& part) {
  std::vector<FlowSample> row;
  row.reserve(part.flows.size());
  for (const ConnectionId flow : part.flows) {
    if (hosts_.supply(flow) == 0) { part.forget(); }  // it ends, or pauses
    row.push_back(hosts_.sample(flow));
  }
  part.history.add(row);
  part.next_row = clock_.now() + part.history.distance();
}

void FastForward::look_at(std::uint32_t number) {
  Part& part = *parts_[number];
  row(part);
  if (part.checking && clock_.now() < part.check_end) { return; }
  const std::optional<SettlingHistory::Settled> found = settled(part);
  if (!found) {
    part.checking = false;
  } else if (check(part, *found)) {
    freeze(number, *found);
  }
}

std::uint64_t FastForward::pattern_of(Part& part) const {
  if (!part.pattern) { part.pattern = dividing_.pattern_of(part.flows); }
  return *part.pattern;
}

/// By what the part did itself, or by what its pattern did before where that seems to come again.
std::optional<SettlingHistory::Settled> FastForward::settled(Part& part) {
  constexpr std::size_t kRowsBetween = 4;
  std::optional<SettlingHistory::Settled> found;
  if (part.history.rows() % kRowsBetween == 0 || part.checking) { found = part.history.settled(bound_); }
  if (found) {
    keep_to_ports(part, found->rates);
    known_[pattern_of(part)] = found->rates;
    return found;
  }
  if (known_.empty() || part.history.rows() < SettlingHistory::kRowsToConfirm) { return {}; }
  const auto known = known_.find(pattern_of(part));
  if (known == known_.end()) { return {}; }
  found = part.history.confirmed(known->second, bound_);
  if (found) { ++counters_.remembered; }
  return found;
}

/// Of a sample of those who have settled it is seen first whether what follows is what was foretold. True where the
/// part may be frozen now.
bool FastForward::check(Part& part, const SettlingHistory::Settled& settled) {
  constexpr std::uint64_t kOneIn = 8;
  constexpr std::int64_t kRows = 8;
  if (!part.checking) {
    if (decisions_++ % kOneIn != 0) { return true; }
    part.checking = true;
    part.check_end = clock_.now() + part.history.distance() * kRows;
    part.check_begin.clear();
    for (const ConnectionId flow : part.flows) { part.check_begin.push_back(hosts_.sample(flow)); }
    part.foretold = settled.rates;
    return false;
  }
  part.checking = false;
  ++counters_.checks;
  double sum = 0;
  const std::vector<double> errors = part.history.deviations(part.check_begin, part.foretold);
  for (const double error : errors) {
    sum += error;
    counters_.worst_error = std::max(counters_.worst_error, error);
  }
  counters_.checked += errors.size();
  counters_.error += sum;
  return sum <= bound_ * static_cast<double>(errors.size());
}

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

bool FastForward::arrives(LinkIndex link) { return part_of_link_[link] == kNone && arrival_due_[link] == clock_.now(); }

bool FastForward::pulls(LinkIndex link) { return part_of_link_[link] == kNone && pull_due_[link] == clock_.now(); }

bool FastForward::times_out(ConnectionId flow) {
  const bool frozen = part_of_[flow] != kNone && parts_[part_of_[flow]]->frozen;
  return !frozen && timeout_due_[flow] == clock_.now();
}

}  // namespace athanor
