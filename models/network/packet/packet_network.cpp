#include "models/network/packet/packet_network.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"

namespace athanor {

using namespace literals;

namespace {

/// In which no switch learns of anything that happens meanwhile; `all`: nor a host.
Time lookahead(const PacketTopology& plan, bool all) {
  Time least = 1_ms;
  for (const PacketTopology::Link& link : plan.links) {
    require(link.latency >= PacketTopology::kLeastLatency, "a link of {} ps latency at packet level",
            link.latency.count());
    if (all || !plan.devices[link.target].host) { least = std::min(least, link.latency); }
  }
  return least;
}

}  // namespace

PacketNetwork::PacketNetwork(Simulator& simulator, const PacketTopology& plan, const TransportSpec& transport,
                             std::uint64_t seed, MoveListener& listener, Pace pace)
    : simulator_(simulator),
      listener_(listener),
      self_(simulator.add(*this)),
      window_(std::min(lookahead(plan, false), pace.most_window)),
      eager_(pace.eager),
      search_delay_(lookahead(plan, true)),
      search_interval_(transport.timeout),
      name_([](LinkIndex link) { return fmt::format("link {}", link.value); }),
      free_(plan.flows.size()) {
  parts_.push_back(std::make_unique<PacketPart>(plan, transport, seed, window_));
  if (pace.threads > 1 && transport.control->words().keeps_to_hosts()) { divide(pace.threads); }
}

void PacketNetwork::divide(std::uint32_t threads) {
  window_ = std::min(window_, search_delay_);
  first().divide(threads, window_);
  while (parts_.size() < threads) {
    parts_.push_back(std::make_unique<PacketPart>(first(), static_cast<std::uint32_t>(parts_.size())));
  }
  progress_ = std::vector<Progress>(threads);
  take_step_ = [this](std::uint32_t number) { take_step(number); };
  team_ = std::make_unique<Team>(threads);
}

void PacketNetwork::skip_settled(Ratio bound) {
  require(threads() == 1, "settled traffic is skipped on {} threads", threads());
  FastForwardClock& clock = *this;
  PacketPart& all = first();
  forward_ = std::make_unique<FastForward>(all.links(), all.hosts(), all.switches(), clock, window_, to_double(bound));
  all.skip_by(*forward_);
}

DeviceIndex PacketNetwork::sender(ConnectionId flow) const {
  const PacketTopology& plan = first().links().plan();
  return plan.links[plan.hops[plan.flows[flow].first_hop]].source;
}

DeviceIndex PacketNetwork::receiver(ConnectionId flow) const {
  const PacketTopology& plan = first().links().plan();
  return plan.links[plan.hops[plan.flows[flow].first_hop + plan.flows[flow].hops - 1]].target;
}

void PacketNetwork::move(ConnectionId connection, Bytes size) {
  require(size >= Bytes::zero(), "a message of {} bytes", size.count());
  if (first().links().plan().flows[connection].hops == 0) { return move_within_device(connection, size); }
  PacketPart& part = part_at(sender(connection));
  part.come_to(simulator_.now());
  if (forward_ && forward_->begins(connection)) {
    part.hosts().append(connection, size);
  } else {
    part.hosts().send(connection, size);
  }
  if (team_) { part_at(receiver(connection)).hosts().watch_arriving(connection); }
  tell(part);
  wake_when_due();
}

void PacketNetwork::move_within_device(ConnectionId flow, Bytes size) {
  const PacketTopology::Flow& plan = first().links().plan().flows[flow];
  const Time start = std::max(simulator_.now(), free_[flow]);
  free_[flow] = start + injection_time(size, plan.cap);
  at(free_[flow], Kind::injected, flow.value);
  if (plan.grain > Bytes::zero()) {
    at(start + injection_time(std::min(size, plan.grain), plan.cap) + plan.software, Kind::grain, flow.value);
  }
  at(free_[flow] + plan.software, Kind::delivered, flow.value);
}

/// Messages that FastForward tells of may end at one instant, and then keep the order in which it tells.
void PacketNetwork::at(Time when, Kind kind, std::uint32_t index) {
  const auto what = std::uint64_t{index} << 8U | static_cast<std::uint64_t>(kind);
  const bool ranked = kind <= Kind::timed_out ? forward_ == nullptr : kind == Kind::wake;
  if (!ranked) { return simulator_.at(when, self_, what); }
  simulator_.at_rank(when, self_, what, static_cast<std::uint64_t>(kind) << 32U | index);
}

void PacketNetwork::wake_at(Time when) {
  if (when >= wake_) { return; }
  wake_ = when;
  at(when, Kind::wake, 0);
}

/// When something is to be done in some part, or mail to be looked at.
Time PacketNetwork::due() const {
  Time due = Time::max();
  for (const std::unique_ptr<PacketPart>& part : parts_) { due = std::min({due, part->next(), part->mail_due()}); }
  return due;
}

void PacketNetwork::wake_when_due() {
  Time when = due();
  if (when == Time::max()) {  // it may have gone ahead of the simulator, whose clock ends where the last thing happened
    when = first().now();
    for (const std::unique_ptr<PacketPart>& part : parts_) { when = std::max(when, part->now()); }
    if (when <= simulator_.now()) { return; }
  }
  wake_at(std::max(when, simulator_.now()));
}

/// Goes ahead up to the next event of the simulator, and not so far that nobody could stop it.
void PacketNetwork::go_on() {
  constexpr std::int64_t kMostWindows = 64;
  const bool waited_for = !simulator_.instant_is_over();  // somebody will act at this instant when all have
  const Time most = simulator_.now() + (waited_for ? Time{1} : window_ * kMostWindows);
  // Whatever else there was at this instant has come before, and is not to be waited for.
  Time until = std::min(std::max(simulator_.next(), simulator_.now() + Time{1}), most);
  for (;; until = std::min(simulator_.next(), most)) {
    const Time from = due();
    if (from >= until) { return wake_when_due(); }
    if (team_) {
      go_together(from, until);
    } else {
      go_alone(until);
    }
  }
}

void PacketNetwork::go_alone(Time until) {
  PacketPart& part = first();
  while (part.next() < until) {
    part.act();
    if (part.told().empty()) { continue; }
    until = std::min(until, tell(part));
  }
}

/// One step, within a window.
void PacketNetwork::go_together(Time from, Time until) {
  constexpr std::int64_t kLeastShare = 8;  // of a window: waiting for each other more often costs more than it gains
  const Time begin = window_ * (from / window_);
  step_.from = from;
  step_.end = std::min(until, begin + window_);
  step_.turn = 1 - step_.turn;
  step_.least = step_.reached = from;
  Time alone = step_.end;
  if (eager_ || gains_together()) {
    alone = step_.least = std::min(step_.end, from + (eager_ ? Time{1} : window_ / kLeastShare));
    team_->run(take_step_);
    for (Progress& progress : progress_) {
      if (progress.failure) { std::rethrow_exception(std::exchange(progress.failure, nullptr)); }
    }
  } else {
    for (const std::unique_ptr<PacketPart>& part : parts_) {
      part->collect(parts_, step_.turn, from);
      part->finish_window();
    }
  }
  for (const std::unique_ptr<PacketPart>& part : parts_) { alone = std::min(alone, tell(*part)); }
  if (step_.reached == from) { take_step_alone(alone); }
}

/// On one thread of several: takes the mail, works off the switches, and lets the hosts act as far as none of any part
/// can cause a call meanwhile.
void PacketNetwork::take_step(std::uint32_t number) {
  PacketPart& part = *parts_[number];
  Progress& progress = progress_[number];
  const auto kept = [&](const auto& work) {
    try {
      work();
    } catch (...) { progress.failure = std::current_exception(); }
  };
  progress.may_go_to = step_.from;
  kept([&] {
    part.collect(parts_, step_.turn, step_.from);
    part.finish_window();
    progress.may_go_to = part.hosts().earliest_call(step_.end);
  });
  team_->meet();
  Time to = step_.end;
  for (const Progress& each : progress_) { to = std::min(to, each.may_go_to); }
  if (to < step_.least) { return; }
  if (number == 0) { step_.reached = to; }
  kept([&] {
    while (part.next() < to) { part.act(); }
  });
}

/// The hosts act on this thread, in order, until a listener has to be called.
void PacketNetwork::take_step_alone(Time until) {
  for (;;) {
    PacketPart* next = &first();
    for (const std::unique_ptr<PacketPart>& part : parts_) {
      if (part->before(*next)) { next = part.get(); }
    }
    if (next->next() >= until) { return; }
    next->act();
    if (next->told().empty()) { continue; }
    until = std::min(until, tell(*next));
  }
}

/// Is it worth waiting for each other? As far as the windows before tell.
bool PacketNetwork::gains_together() {
  constexpr std::uint64_t kFewEvents = 64;  // of hosts, on each thread
  const std::int64_t window = step_.from / window_;
  if (window != counted_) {
    std::uint64_t acted = 0;
    for (const std::unique_ptr<PacketPart>& part : parts_) { acted += part->acted(); }
    counted_ = window;
    in_window_ = acted - acted_;
    acted_ = acted;
    choice_.note(in_window_);
  }
  return in_window_ >= kFewEvents * threads() && choice_.together();
}

/// Lets listeners be called when the time has come. Returns when the first of them is; Time::max(): none.
Time PacketNetwork::tell(PacketPart& part) {
  Time first = Time::max();
  for (const PacketPart::Told& told : part.told()) {
    if (told.call == PacketPart::Call::timeout) {
      at(told.when + search_delay_, Kind::timed_out, 0);
      continue;
    }
    require(told.when >= step_.reached, "a listener is called at {} ps, and hosts have acted up to {}",
            told.when.count(), step_.reached.count());
    at(told.when, static_cast<Kind>(told.call), told.flow.value);
    first = std::min(first, told.when);
  }
  part.told().clear();
  return first;
}

void PacketNetwork::on_event(std::uint64_t what) {
  const auto index = static_cast<std::uint32_t>(what >> 8U);
  const Kind kind = static_cast<Kind>(what & 0xffU);
  for (const std::unique_ptr<PacketPart>& part : parts_) { part->come_to(simulator_.now()); }
  switch (kind) {
    case Kind::injected: return listener_.injected(ConnectionId{index});
    case Kind::delivered: return listener_.delivered(ConnectionId{index});
    case Kind::grain: return listener_.grain_arrived(ConnectionId{index});
    case Kind::timed_out: return look_for_deadlock();
    case Kind::look: forward_->look(); break;
    case Kind::thaw: forward_->thaw_due(index); break;
    case Kind::milestone: forward_->milestone(ConnectionId{index}); break;
    case Kind::wake:
      if (simulator_.now() != wake_) { return; }  // something else has come first
      wake_ = Time::max();
      return go_on();
  }
  tell(first());
  wake_when_due();
}

PortCounters PacketNetwork::port_counters(LinkIndex link, Time now) const {
  const PortCounters* const counted = first().links().counters(link);
  require(counted != nullptr, "the ports were not counted");
  PortCounters port = *counted;
  if (port.stopped != 0) { port.paused += std::max(now - port.paused_since, Time::zero()); }
  return port;
}

SwitchCounters PacketNetwork::switch_counters() const {
  SwitchCounters counters;
  for (const std::unique_ptr<PacketPart>& part : parts_) { counters.add(part->switches().counters()); }
  return counters;
}

HostCounters PacketNetwork::host_counters() const {
  HostCounters counters;
  for (const std::unique_ptr<PacketPart>& part : parts_) { counters.add(part->hosts().counters()); }
  return counters;
}

/// Packets that wait for each other for ever are never acknowledged: so it is done some time after a timeout, when all
/// that happened at it has happened everywhere.
void PacketNetwork::look_for_deadlock() {
  constexpr std::size_t kMostNamed = 8;
  if (simulator_.now() < next_search_) { return; }
  next_search_ = simulator_.now() + search_interval_;
  const std::vector<LinkIndex> circle = waiting_circle(first().links());
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
