#include "models/jobs/schedulers/waiting_list.hpp"

namespace athanor {

void WaitingList::add(Turn turn, const Job& job) {
  if (by_shape_.size() <= job.shape.value) { by_shape_.resize(job.shape.value + 1); }
  TurnList& alike = by_shape_[job.shape.value];
  if (alike.empty()) {
    heads_.insert({turn, job.shape});
  } else if (turn < alike.first()) {
    heads_.erase({alike.first(), job.shape});
    heads_.insert({turn, job.shape});
  }
  alike.add(turn, job.expected);
  ++size_;
}

void WaitingList::remove(Turn turn, ShapeId shape) {
  TurnList& alike = by_shape_[shape.value];
  const bool first = !alike.empty() && turn == alike.first();
  alike.remove(turn);
  --size_;
  if (!first) { return; }
  heads_.erase({turn, shape});
  if (!alike.empty()) { heads_.insert({alike.first(), shape}); }
}

}  // namespace athanor
