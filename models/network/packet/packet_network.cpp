#include "models/network/packet/packet_network.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

Time least_latency(const PacketPlan& plan) {
  Time least = Time::max();
  for (const PacketPlan::Link& link : plan.links) { least = std::min(least, link.latency); }
  require(least >= PacketPlan::kLeastLatency, "a link of {} ps latency at packet level", least.count());
  return least;
}

}  // namespace

PacketNetwork::PacketNetwork(Simulator& simulator, const PacketPlan& plan, const TransportSpec& transport,
                             std::uint64_t seed, MoveListener& listener, Time most_window)
    : simulator_(simulator),
      listener_(listener),
      self_(simulator.add(*this)),
      window_(std::min(least_latency(plan), most_window)),
      wheel_(plan.devices.size()),
      links_(plan, *this),
      switches_(links_, seed),
      hosts_(links_, transport, *this) {}

void PacketNetwork::move(std::uint32_t connection, Bytes size) {
  require(size >= Bytes::zero(), "a message of {} bytes", size.count());
  hosts_.send(connection, size);
}

void PacketNetwork::expect_arrival(std::uint32_t link, Time when) {
  const std::uint32_t target = links_.link(link).target;
  if (links_.plan().devices[target].host) { return at(when, Kind::arrival, link); }
  switches_.expect(link);
  ask(target, when);
}

void PacketNetwork::expect_pause(std::uint32_t link, Time when) {
  const std::uint32_t source = links_.link(link).source;
  if (links_.plan().devices[source].host) { return at(when, Kind::service, link); }
  ask(source, when);
}

void PacketNetwork::ask(std::uint32_t device, Time when) {
  const std::int64_t window = window_of(when);
  require(window > working_, "window {} is asked for while {} is worked off", window, working_);
  wheel_.ask(device, window, window_of(simulator_.now()));
  if (window < alarm_) {
    alarm_ = window;
    at(window_ * window, Kind::window, 0);
  }
}

void PacketNetwork::work() {
  working_ = window_of(simulator_.now());
  if (working_ == alarm_) { alarm_ = INT64_MAX; }
  devices_.clear();
  wheel_.take(working_, devices_);
  const Time end = window_ * (working_ + 1);
  for (const std::uint32_t device : devices_) {
    const Time next = switches_.work(device, end);
    if (next != Time::max()) { wheel_.ask(device, std::max(window_of(next), working_ + 1), working_); }
  }
  const std::optional<std::int64_t> next = wheel_.first(working_ + 1);
  if (next && *next < alarm_) {
    alarm_ = *next;
    at(window_ * alarm_, Kind::window, 0);
  }
}

void PacketNetwork::on_event(std::uint64_t what) {
  const auto index = static_cast<std::uint32_t>(what >> 8U);
  switch (static_cast<Kind>(what & 0xffU)) {
    case Kind::window: return work();
    case Kind::arrival: {
      hosts_.arrive(index);
      Ring<Flight>& flights = links_.flights(index);
      if (!flights.empty()) { at(flights.front().when, Kind::arrival, index); }
      return;
    }
    case Kind::service: return hosts_.serve(index);
    case Kind::timeout: return hosts_.timeout(index);
    case Kind::injected: return listener_.injected(index);
    case Kind::delivered: return listener_.delivered(index);
    case Kind::grain: return listener_.grain_arrived(index);
  }
}

void PacketNetwork::snapshot(std::vector<std::int64_t>&) const {
  require(false, "loops are not repeated at packet level");
}

void PacketNetwork::warp(Time, std::int64_t, const std::vector<Bytes>&) {
  require(false, "loops are not repeated at packet level");
}

}  // namespace athanor
