#include "models/network/packet/packet_network.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/network/network.hpp"
#include "models/network/packet/packet_links.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"

namespace athanor {

using namespace literals;

namespace {

/// In which no switch learns of anything that happens meanwhile.
Time lookahead(const PacketTopology& plan) {
  Time least = 1_ms;
  for (const PacketTopology::Link& link : plan.links) {
    require(link.latency >= PacketTopology::kLeastLatency, "a link of {} ps latency at packet level",
            link.latency.count());
    if (!plan.devices[link.target].host) { least = std::min(least, link.latency); }
  }
  return least;
}

}  // namespace

PacketNetwork::PacketNetwork(Simulator& simulator, const PacketTopology& plan, const TransportSpec& transport,
                             std::uint64_t seed, MoveListener& listener, Time most_window)
    : simulator_(simulator),
      listener_(listener),
      self_(simulator.add(*this)),
      window_(std::min(lookahead(plan), most_window)),
      wheel_(plan.devices.size()),
      begin_(Time::zero() - window_),
      search_interval_(transport.timeout),
      name_([](LinkIndex link) { return fmt::format("link {}", link.value); }),
      free_(plan.flows.size()),
      links_(plan, *this),
      switches_(links_, seed),
      hosts_(links_, transport, seed, *this) {}

void PacketNetwork::skip_settled(Ratio bound) {
  FastForwardClock& clock = *this;
  forward_ = std::make_unique<FastForward>(links_, hosts_, switches_, clock, window_, to_double(bound));
}

void PacketNetwork::move(ConnectionId connection, Bytes size) {
  require(size >= Bytes::zero(), "a message of {} bytes", size.count());
  if (links_.plan().flows[connection].hops == 0) { return move_within_device(connection, size); }
  if (forward_ && forward_->begins(connection)) { return hosts_.append(connection, size); }
  hosts_.send(connection, size);
}

void PacketNetwork::move_within_device(ConnectionId flow, Bytes size) {
  const PacketTopology::Flow& plan = links_.plan().flows[flow];
  const Time start = std::max(simulator_.now(), free_[flow]);
  free_[flow] = start + injection_time(size, plan.cap);
  injected_at(flow, free_[flow]);
  if (plan.grain > Bytes::zero()) {
    grain_arrived_at(flow, start + injection_time(std::min(size, plan.grain), plan.cap) + plan.software);
  }
  delivered_at(flow, free_[flow] + plan.software);
}

void PacketNetwork::expect_arrival(LinkIndex link, Time when) {
  if (links_.leads_to_host(link)) { return arrive_at(link, when); }
  switches_.expect(link);
  ask(links_.target(link), when);
}

void PacketNetwork::arrive_at(LinkIndex link, Time when) {
  if (forward_) {
    if (FastForward::is_far(when)) { return; }  // thawing asks again
    forward_->expect_arrival(link, when);
  }
  at(when, Kind::arrival, link.value);
}

void PacketNetwork::expect_pause(LinkIndex link, Time when) {
  const DeviceIndex source = links_.link(link).source;
  if (links_.plan().devices[source].host) { return serve_at(link, when); }
  ask(source, when);
}

void PacketNetwork::ask(DeviceIndex device, Time when) {
  if (forward_ && FastForward::is_far(when)) { return; }  // thawing asks again
  const std::int64_t window = window_of(when);
  require(window > working_, "window {} is asked for while {} is worked off", window, working_);
  const std::int64_t now = window_of(simulator_.now());
  wheel_.ask(device, window, now);
  const std::int64_t look = std::min(window, now + WindowWheel::kMostAhead);
  if (look < alarm_) {
    alarm_ = look;
    at(window_ * look, Kind::window, 0);
  }
}

void PacketNetwork::work() {
  working_ = window_of(simulator_.now());
  begin_ = window_ * working_;
  if (working_ == alarm_) { alarm_ = INT64_MAX; }
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
    const bool never = forward_ ? FastForward::is_far(next) : next == Time::max();
    if (!never) { wheel_.ask(device, std::max(window_of(next), working_ + 1), working_); }
  }
  const std::optional<std::int64_t> next = wheel_.first(working_ + 1);
  if (next && *next < alarm_) {
    alarm_ = *next;
    at(window_ * alarm_, Kind::window, 0);
  }
}

/// A network that is frozen here and there has events that are out of date.
bool PacketNetwork::wanted(Kind kind, std::uint32_t index) {
  switch (kind) {
    case Kind::arrival: return forward_->arrives(LinkIndex{index});
    case Kind::service: return forward_->serves(LinkIndex{index});
    case Kind::timeout: return forward_->times_out(ConnectionId{index});
    case Kind::pull: return forward_->pulls(LinkIndex{index});
    default: return true;
  }
}

void PacketNetwork::arrive(LinkIndex link) {
  hosts_.arrive(link);
  Ring<Flight>& flights = links_.flights(link);
  if (!flights.empty()) { arrive_at(link, flights.front().when); }
}

void PacketNetwork::finish_window() {
  if (alarm_ <= window_of(simulator_.now())) { work(); }
}

void PacketNetwork::on_event(std::uint64_t what) {
  const auto index = static_cast<std::uint32_t>(what >> 8U);
  const Kind kind = static_cast<Kind>(what & 0xffU);
  if (forward_ && !wanted(kind, index)) { return; }
  switch (kind) {
    case Kind::window: return work();
    case Kind::arrival: return arrive(LinkIndex{index});
    case Kind::service: return hosts_.serve(LinkIndex{index});
    case Kind::timeout: return time_out(ConnectionId{index});
    case Kind::pull: return hosts_.pull(LinkIndex{index});
    case Kind::injected: return listener_.injected(ConnectionId{index});
    case Kind::delivered: return listener_.delivered(ConnectionId{index});
    case Kind::grain: return listener_.grain_arrived(ConnectionId{index});
    case Kind::look: return forward_->look();
    case Kind::thaw: return forward_->thaw_due(index);
    case Kind::milestone: return forward_->milestone(ConnectionId{index});
  }
}

PortCounters PacketNetwork::port_counters(LinkIndex link, Time now) const {
  const PortCounters* const counted = links_.counters(link);
  require(counted != nullptr, "the ports were not counted");
  PortCounters port = *counted;
  if (port.stopped != 0) { port.paused += std::max(now - port.paused_since, Time::zero()); }
  return port;
}

/// Packets that wait for each other for ever are never acknowledged.
void PacketNetwork::time_out(ConnectionId flow) {
  const std::uint64_t before = hosts_.counters().timeouts;
  hosts_.timeout(flow);
  if (hosts_.counters().timeouts == before || simulator_.now() < next_search_) { return; }
  next_search_ = simulator_.now() + search_interval_;
  refuse_deadlock();
}

void PacketNetwork::refuse_deadlock() const {
  constexpr std::size_t kMostNamed = 8;
  const std::vector<LinkIndex> circle = waiting_circle(links_);
  if (circle.empty()) { return; }
  std::string text = fmt::format("after {} ports wait for each other in a circle, full buffers behind each: ",
                                 to_string(simulator_.now()));
  for (std::size_t i = 0; i < circle.size() && i < kMostNamed; ++i) { text += name_(circle[i]) + " waits for "; }
  text += circle.size() > kMostNamed ? fmt::format("{} more", circle.size() - kMostNamed) : "the first";
  throw SimulationError("deadlock", text +
                                        "; choose a routing without such circles, larger buffers, or "
                                        "\"flow_control\": \"none\"");
}

void PacketNetwork::snapshot(std::vector<std::int64_t>&) const {
  require(false, "loops are not repeated at packet level");
}

void PacketNetwork::fast_forward(Time, std::int64_t, const CarriedBytes&) {
  require(false, "loops are not repeated at packet level");
}

}  // namespace athanor
