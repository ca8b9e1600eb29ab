#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "models/jobs/schedulers/turn_list.hpp"

namespace athanor {

/// Jobs that wait, in the order of their turns, and apart from each other by what they ask for: where one does not fit,
/// all that ask for the same are passed over at once.
class WaitingList {
 public:
  /// What follows a look at a job.
  enum class Next : std::uint8_t {
    job,        ///< the next one
    short_one,  ///< the next one, but none that asks for the same and is not short
    no_such,    ///< the next one that asks for something else
    none,       ///< end
  };

  void add(Turn turn, const Job& job);
  /// Requires that it is there.
  void remove(Turn turn, ShapeId shape);

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// Requires !empty().
  Turn first() const { return heads_.begin()->turn; }

  /// Shows the jobs in their order to `look`, which says how to go on. Short ones are expected to run at most so long.
  /// Nothing may be added or removed meanwhile.
  template <class Look>
  void visit(Look look, WallTime longest_short = WallTime::max()) const;

 private:
  struct Head {
    Turn turn;
    ShapeId shape;
    auto operator<=>(const Head&) const = default;
  };
  struct Cursor {
    Turn turn;
    TurnList::Place at;
    ShapeId shape;
    WallTime most = WallTime::max();  ///< jobs that are expected to run longer are passed over
  };

  std::vector<TurnList> by_shape_;
  std::set<Head> heads_;  ///< the first of each shape
  std::size_t size_ = 0;
};

template <class Look>
void WaitingList::visit(Look look, WallTime longest_short) const {
  const auto later = [](const Cursor& a, const Cursor& b) { return b.turn < a.turn; };
  std::vector<Cursor> heap;
  auto head = heads_.begin();
  while (true) {
    const bool from_heap = !heap.empty() && (head == heads_.end() || heap.front().turn < head->turn);
    if (!from_heap && head == heads_.end()) { return; }
    Cursor cursor;
    if (from_heap) {
      std::pop_heap(heap.begin(), heap.end(), later);
      cursor = heap.back();
      heap.pop_back();
    } else {
      cursor.turn = head->turn;
      cursor.shape = head->shape;
      ++head;
    }
    switch (look(cursor.turn)) {
      case Next::none: return;
      case Next::no_such: continue;
      case Next::short_one: cursor.most = longest_short; break;
      case Next::job: break;
    }
    const TurnList& alike = by_shape_[cursor.shape.value];
    const auto next = alike.next({cursor.at.block, cursor.at.index + 1}, cursor.most);
    if (!next) { continue; }
    cursor.at = *next;
    cursor.turn = alike.at(*next);
    heap.push_back(cursor);
    std::push_heap(heap.begin(), heap.end(), later);
  }
}

}  // namespace athanor
