#include "models/network/packet/fast_forward.hpp"

#include <algorithm>
#include <utility>

namespace athanor {

namespace {

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

bool FastForward::arrives(LinkIndex link) { return part_of_link_[link] == kNone && arrival_due_[link] == clock_.now(); }

bool FastForward::pulls(LinkIndex link) { return part_of_link_[link] == kNone && pull_due_[link] == clock_.now(); }

bool FastForward::times_out(ConnectionId flow) {
  const bool frozen = part_of_[flow] != kNone && parts_[part_of_[flow]]->frozen;
  return !frozen && timeout_due_[flow] == clock_.now();
}

}  // namespace athanor
