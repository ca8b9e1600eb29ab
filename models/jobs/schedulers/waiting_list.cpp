#include "models/jobs/schedulers/waiting_list.hpp"

#include "sim/check.hpp"

namespace athanor {

void WaitingList::add(Turn turn, ShapeId shape) {
  if (by_shape_.size() <= shape.value) { by_shape_.resize(shape.value + 1); }
  std::set<Turn>& alike = by_shape_[shape.value];
  if (alike.empty()) {
    heads_.insert({turn, shape});
  } else if (turn < *alike.begin()) {
    heads_.erase({*alike.begin(), shape});
    heads_.insert({turn, shape});
  }
  require(alike.insert(turn).second, "job {} waits twice", turn.job.value);
  ++size_;
}

void WaitingList::remove(Turn turn, ShapeId shape) {
  std::set<Turn>& alike = by_shape_[shape.value];
  const auto at = alike.find(turn);
  require(at != alike.end(), "job {} does not wait", turn.job.value);
  const bool first = at == alike.begin();
  alike.erase(at);
  --size_;
  if (!first) { return; }
  heads_.erase({turn, shape});
  if (!alike.empty()) { heads_.insert({*alike.begin(), shape}); }
}

}  // namespace athanor
