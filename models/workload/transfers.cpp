#include "models/workload/transfers.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

Transfers::Transfers(Simulator& simulator, std::vector<Time> times, const std::vector<std::vector<LinkShare>>& shares,
                     Listener& listener)
    : simulator_(simulator),
      self_(simulator.add(*this)),
      times_(std::move(times)),
      shares_(shares),
      listener_(listener),
      of_price_(times_.size()) {}

std::uint32_t Transfers::start(std::uint32_t price) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(running_.size()));
    running_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Running& own = running_[number];
  own.price = price;
  own.left = static_cast<double>(times_[price].count());
  own.speed = 0;
  own.since = simulator_.now();
  of_price_[price].push_back(number);
  if (shares_.shares_links(price)) {
    shares_.start(price);
    change(price);
  } else {
    set_speed(number, 1);
  }
  return number;
}

/// All that begins and ends at one instant is shared out once.
void Transfers::change(std::uint32_t price) {
  changed_.push_back(price);
  simulator_.settle(self_);
}

void Transfers::on_settle() {
  for (std::size_t next = 0; next < changed_.size(); ++next) {
    for (const std::uint32_t price : shares_.update(changed_[next])) {
      for (const std::uint32_t number : of_price_[price]) { set_speed(number, shares_.speed(price)); }
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
  const auto needs = static_cast<std::int64_t>(std::ceil(own.left / speed));
  simulator_.at(now + Time{needs}, self_, std::uint64_t{own.generation} << 32U | number);
}

void Transfers::on_event(std::uint64_t what) {
  const auto number = static_cast<std::uint32_t>(what);
  Running& own = running_[number];
  if (own.generation != what >> 32U) { return; }
  ++own.generation;
  const std::uint32_t price = own.price;
  std::vector<std::uint32_t>& all = of_price_[price];
  all.erase(std::find(all.begin(), all.end(), number));
  free_.push_back(number);
  if (shares_.shares_links(price)) {
    shares_.end(price);
    change(price);
  }
  listener_.transferred(number);
}

}  // namespace athanor
