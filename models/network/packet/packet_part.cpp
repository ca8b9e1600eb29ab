#include "models/network/packet/packet_part.hpp"

#include "models/network/packet/device_parts.hpp"
#include "sim/check.hpp"

namespace athanor {

PacketPart::PacketPart(const PacketTopology& plan, const TransportSpec& transport, std::uint64_t seed, Time window)
    : window_(window),
      wheel_(plan.devices.size()),
      begin_(Time::zero() - window_),
      links_(plan, *this),
      switches_(links_, seed),
      hosts_(links_, transport, seed, *this) {}

PacketPart::PacketPart(PacketPart& first, std::uint32_t number)
    : window_(first.window_),
      number_(number),
      part_of_(first.part_of_),
      wheel_(first.links_.plan().devices.size()),
      begin_(Time::zero() - window_),
      mail_(first.mail_.size()),
      links_(first.links_, *this),
      switches_(first.switches_, links_),
      hosts_(first.hosts_, links_, *this) {}

void PacketPart::divide(std::uint32_t parts, Time window) {
  window_ = window;
  begin_ = Time::zero() - window_;
  const PacketTopology& plan = links_.plan();
  part_of_ = std::make_shared<IdVector<DeviceIndex, std::uint32_t>>(device_parts(plan, parts));
  mail_.resize(parts);
  for (const LinkIndex link : plan.links.ids()) {
    require(plan.links[link].latency >= window_, "link {} is shorter than a window", link.value);
    if (part_of(plan.links[link].source) != part_of(plan.links[link].target)) { links_.set_crossing(link); }
  }
  hosts_.foresee(window_);
}

void PacketPart::expect_arrival(LinkIndex link, Time when) {
  if (links_.leads_to_host(link)) { return arrive_at(link, when); }
  switches_.expect(link);
  ask(links_.target(link), when);
}

void PacketPart::arrive_at(LinkIndex link, Time when) {
  if (forward_ != nullptr) {
    if (FastForward::is_far(when)) { return; }  // thawing asks again
    forward_->expect_arrival(link, when);
  }
  at(when, Kind::arrival, link.value);
}

void PacketPart::expect_pause(LinkIndex link, Time when) {
  const DeviceIndex source = links_.link(link).source;
  if (links_.plan().devices[source].host) { return serve_at(link, when); }
  ask(source, when);
}

/// Where mail for a device is written, in which something has to be looked at by `when`.
PacketPart::Mail& PacketPart::mail_to(DeviceIndex device, Time when) {
  const bool host = links_.plan().devices[device].host;
  mail_due_ = std::min(mail_due_, host ? when : window_ * window_of(when));
  return mail_[part_of(device)][turn_];
}

void PacketPart::send_away(LinkIndex link, const Flight& flight) {
  mail_to(links_.target(link), flight.when).flights.emplace_back(link, flight);
}

void PacketPart::pause_away(LinkIndex link, const Port::Pause& pause) {
  mail_to(links_.link(link).source, pause.when).pauses.emplace_back(link, pause);
}

void PacketPart::collect(const std::vector<std::unique_ptr<PacketPart>>& parts, std::uint32_t turn, Time now) {
  come_to(now);
  turn_ = turn;
  mail_due_ = Time::max();
  for (const std::unique_ptr<PacketPart>& part : parts) {
    Mail& mail = part->mail_[number_][1 - turn];
    for (const auto& [link, flight] : mail.flights) { links_.land(link, flight); }
    for (const auto& [link, pause] : mail.pauses) { links_.learn(link, pause); }
    mail.flights.clear();
    mail.pauses.clear();
  }
}

void PacketPart::set_alarm(std::int64_t window) {
  alarm_ = window;
  alarm_time_ = window == INT64_MAX ? Time::max() : window_ * window;
}

void PacketPart::ask(DeviceIndex device, Time when) {
  if (forward_ != nullptr && FastForward::is_far(when)) { return; }  // thawing asks again
  const std::int64_t window = window_of(when);
  require(window > working_, "window {} is asked for while {} is worked off", window, working_);
  const std::int64_t now = window_of(now_);
  wheel_.ask(device, window, now);
  const std::int64_t look = std::min(window, now + WindowWheel::kMostAhead);
  if (look < alarm_) { set_alarm(look); }
}

void PacketPart::work() {
  working_ = alarm_;
  begin_ = alarm_time_;
  come_to(begin_);
  devices_.clear();
  wheel_.take(working_, devices_);
  const Time end = begin_ + window_;
  const std::size_t count = devices_.size();
  for (std::size_t k = 0; k < count; ++k) {
    const DeviceIndex device = devices_[k];
    if (k + 4 < count) { switches_.approach(devices_[k + 4]); }
    if (k + 3 < count) { switches_.approach_lists(devices_[k + 3]); }
    if (k + 2 < count) { switches_.approach_links(devices_[k + 2]); }
    if (k + 1 < count) { switches_.approach_packets(devices_[k + 1]); }
    const Time next = switches_.work(device, end);
    const bool never = forward_ != nullptr ? FastForward::is_far(next) : next == Time::max();
    if (!never) { wheel_.ask(device, std::max(window_of(next), working_ + 1), working_); }
  }
  set_alarm(wheel_.first(working_ + 1).value_or(INT64_MAX));
}

bool PacketPart::before(const PacketPart& other) const {
  if (events_.empty() || other.events_.empty()) { return !events_.empty(); }
  return events_.top().before(other.events_.top());
}

void PacketPart::act() {
  if (events_.empty() || alarm_time_ <= events_.top().when) { return work(); }
  const Event event = events_.top();
  events_.pop();
  come_to(event.when);
  act_at_host(static_cast<Kind>(event.order >> 32U), static_cast<std::uint32_t>(event.order));
}

void PacketPart::act_at_host(Kind kind, std::uint32_t index) {
  ++acted_;
  if (forward_ != nullptr && !wanted(kind, index)) { return; }
  switch (kind) {
    case Kind::arrival: return arrive(LinkIndex{index});
    case Kind::service: return hosts_.serve(LinkIndex{index});
    case Kind::timeout: return time_out(ConnectionId{index});
    case Kind::pull: return hosts_.pull(LinkIndex{index});
  }
}

/// A network that is frozen here and there has events that are out of date.
bool PacketPart::wanted(Kind kind, std::uint32_t index) {
  switch (kind) {
    case Kind::arrival: return forward_->arrives(LinkIndex{index});
    case Kind::service: return forward_->serves(LinkIndex{index});
    case Kind::timeout: return forward_->times_out(ConnectionId{index});
    case Kind::pull: return forward_->pulls(LinkIndex{index});
  }
  return true;
}

void PacketPart::arrive(LinkIndex link) {
  hosts_.arrive(link);
  Ring<Flight>& flights = links_.flights(link);
  if (!flights.empty()) { arrive_at(link, flights.front().when); }
}

void PacketPart::time_out(ConnectionId flow) {
  const std::uint64_t before = hosts_.counters().timeouts;
  hosts_.timeout(flow);
  if (hosts_.counters().timeouts != before) { told_.push_back({now_, Call::timeout, flow}); }
}

}  // namespace athanor
