#include "models/jobs/schedulers/waiting_list.hpp"

#include <algorithm>

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

std::optional<Turn> WaitingList::Walk::next() {
  const bool more_heads = head_ != list_->heads_.end();
  if (heap_.empty() && !more_heads) { return {}; }
  if (!heap_.empty() && (!more_heads || heap_.front().turn < head_->turn)) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    shown_ = heap_.back();
    heap_.pop_back();
  } else {
    shown_ = {head_->turn, {}, head_->shape};
    ++head_;
  }
  return shown_.turn;
}

void WaitingList::Walk::go_on(Next next) {
  if (next == Next::no_such || next == Next::none) { return; }
  if (next == Next::short_one) { shown_.most = longest_short_; }
  const TurnList& alike = list_->by_shape_[shown_.shape.value];
  const auto place = alike.next({shown_.at.block, shown_.at.index + 1}, shown_.most);
  if (!place) { return; }
  shown_.at = *place;
  shown_.turn = alike.at(*place);
  heap_.push_back(shown_);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

}  // namespace athanor
