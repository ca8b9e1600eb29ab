#include "models/workload/computations.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

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
