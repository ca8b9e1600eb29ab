#include "models/workload/transfers.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

namespace {

constexpr double kStill = 1e-12;     ///< a speed that rounding alone leaves
constexpr double kMostNeeds = 4e18;  ///< picoseconds: half of what Time holds

}  // namespace

namespace {}  // namespace

Transfers::Transfers(Simulator& simulator, std::vector<Work> works, CallShares shares, Listener& listener)
    : simulator_(simulator),
      self_(simulator.add(*this)),
      works_(std::move(works)),
      shares_(std::move(shares)),
      listener_(listener),
      of_estimate_(works_.size()) {}

std::uint32_t Transfers::start(std::uint32_t estimate) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(running_.size()));
    running_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  const Work& work = works_[estimate];
  const bool shares = shares_.shares_links(estimate);
  Running& own = running_[number];
  own.estimate = estimate;
  own.left = static_cast<double>((shares ? work.transfer : work.transfer + work.latency).count());
  own.speed = 0;
  own.since = simulator_.now();
  if (!shares) {
    set_speed(number, 1);
    return number;
  }
  of_estimate_[estimate].push_back(number);
  shares_.start(estimate);
  change(estimate);
  return number;
}

double Transfers::done(std::uint32_t number) const {
  const Running& own = running_[number];
  const double left = own.left - own.speed * static_cast<double>((simulator_.now() - own.since).count());
  return static_cast<double>(works_[own.estimate].transfer.count()) - left;
}

/// All that begins and ends at one instant is shared out once.
void Transfers::change(std::uint32_t estimate) {
  changed_.push_back(estimate);
  simulator_.at_end_of_instant(self_);
}

void Transfers::on_end_of_instant() {
  for (std::size_t next = 0; next < changed_.size(); ++next) {
    for (const std::uint32_t estimate : shares_.update(changed_[next])) {
      for (const std::uint32_t number : of_estimate_[estimate]) { set_speed(number, shares_.speed(estimate)); }
    }
  }
  changed_.clear();
}

void Transfers::set_speed(std::uint32_t number, double speed) {
  Running& own = running_[number];
  if (own.speed == speed) { return; }
  const Time now = simulator_.now();
  own.left = std::max(0.0, own.left - own.speed * static_cast<double>((now - own.since).count()));
  own.since = now;
  own.speed = speed;
  ++own.generation;
  const double needs = std::ceil(own.left / std::max(speed, kStill));
  if (speed <= kStill || needs > kMostNeeds) { return; }  // until its speed changes
  simulator_.at(now + Time{static_cast<std::int64_t>(needs)}, self_, std::uint64_t{own.generation} << 32U | number);
}

void Transfers::on_event(std::uint64_t what) {
  const auto number = static_cast<std::uint32_t>(what);
  Running& own = running_[number];
  if (own.generation != what >> 32U) { return; }
  ++own.generation;
  if (own.speed > 0 && shares_.shares_links(own.estimate)) {
    leave_links(number);
    const Time latency = works_[own.estimate].latency;
    if (latency > Time::zero()) {
      simulator_.at(simulator_.now() + latency, self_, std::uint64_t{own.generation} << 32U | number);
      return;
    }
  }
  free_.push_back(number);
  listener_.transferred(number);
}

void Transfers::leave_links(std::uint32_t number) {
  Running& own = running_[number];
  own.speed = 0;
  std::vector<std::uint32_t>& all = of_estimate_[own.estimate];
  all.erase(std::find(all.begin(), all.end(), number));
  shares_.end(own.estimate);
  change(own.estimate);
}

Computations::Computations(Simulator& simulator, std::size_t workers, double interference, Listener& listener)
    : simulator_(simulator),
      self_(simulator.add(*this)),
      slowed_(1 / (1 + interference)),
      listener_(listener),
      speeds_(workers, 1),
      running_(workers) {}

void Computations::start(OperationId who, Time alone) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Running& own = slots_[slot];
  own.who = who;
  own.left = static_cast<double>(alone.count());
  own.speed = speeds_[who.worker];
  own.since = simulator_.now();
  running_[who.worker].push_back(slot);
  await_end(slot);
}

void Computations::await_end(std::uint32_t slot) {
  Running& own = slots_[slot];
  ++own.generation;
  const auto needs = static_cast<std::int64_t>(std::ceil(own.left / own.speed));
  simulator_.at(simulator_.now() + Time{needs}, self_, std::uint64_t{own.generation} << 32U | slot);
}

void Computations::communicates(std::uint32_t worker, bool now) {
  if (slowed_ == 1) { return; }
  speeds_[worker] = now ? slowed_ : 1;
  for (const std::uint32_t slot : running_[worker]) {
    Running& own = slots_[slot];
    own.left = std::max(0.0, own.left - own.speed * static_cast<double>((simulator_.now() - own.since).count()));
    own.since = simulator_.now();
    own.speed = speeds_[worker];
    await_end(slot);
  }
}

void Computations::on_event(std::uint64_t what) {
  const auto slot = static_cast<std::uint32_t>(what);
  Running& own = slots_[slot];
  if (own.generation != what >> 32U) { return; }
  const OperationId who = own.who;
  std::vector<std::uint32_t>& all = running_[who.worker];
  all.erase(std::find(all.begin(), all.end(), slot));
  ++own.generation;
  free_.push_back(slot);
  listener_.computed(who);
}

}  // namespace athanor
