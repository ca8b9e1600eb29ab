#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "models/jobs/job.hpp"

namespace athanor {

/// Where a job stands among those that wait: lower keys first, then as they were submitted.
struct Turn {
  std::int64_t key = 0;
  JobId job;

  auto operator<=>(const Turn&) const = default;
};

/// Jobs that wait, in the order of their turns, and apart from each other by what they ask for: where one does not fit,
/// all that ask for the same are passed over at once.
class WaitingList {
 public:
  /// What follows a look at a job.
  enum class Next : std::uint8_t {
    job,      ///< the next one
    no_such,  ///< the next one that asks for something else
    none,     ///< end
  };

  void add(Turn turn, ShapeId shape);
  /// Requires that it is there.
  void remove(Turn turn, ShapeId shape);

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// Requires !empty().
  Turn first() const { return heads_.begin()->turn; }

  /// Shows the jobs in their order to `look`, which says how to go on. Nothing may be added or removed meanwhile.
  template <class Look>
  void visit(Look look) const;

 private:
  struct Head {
    Turn turn;
    ShapeId shape;
    auto operator<=>(const Head&) const = default;
  };
  struct Cursor {
    std::set<Turn>::const_iterator at;
    ShapeId shape;
  };

  std::vector<std::set<Turn>> by_shape_;
  std::set<Head> heads_;  ///< the first of each shape
  std::size_t size_ = 0;
};

template <class Look>
void WaitingList::visit(Look look) const {
  const auto later = [](const Cursor& a, const Cursor& b) { return *b.at < *a.at; };
  std::vector<Cursor> heap;
  auto head = heads_.begin();
  while (true) {
    const bool from_heap = !heap.empty() && (head == heads_.end() || *heap.front().at < head->turn);
    if (!from_heap && head == heads_.end()) { return; }
    Cursor cursor;
    if (from_heap) {
      std::pop_heap(heap.begin(), heap.end(), later);
      cursor = heap.back();
      heap.pop_back();
    } else {
      cursor = {by_shape_[head->shape.value].begin(), head->shape};
      ++head;
    }
    switch (look(*cursor.at)) {
      case Next::none: return;
      case Next::no_such: continue;
      case Next::job: break;
    }
    if (++cursor.at == by_shape_[cursor.shape.value].end()) { continue; }
    heap.push_back(cursor);
    std::push_heap(heap.begin(), heap.end(), later);
  }
}

}  // namespace athanor
