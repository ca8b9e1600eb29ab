#pragma once

#include <compare>
#include <cstdint>
#include <optional>
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

  class Walk;

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

/// Goes through a list job by job. Nothing may be added or removed meanwhile.
class WaitingList::Walk {
 public:
  /// Borrows the list. `longest_short`: as for visit().
  explicit Walk(const WaitingList& list, WallTime longest_short = WallTime::max())
      : list_(&list), longest_short_(longest_short), head_(list.heads_.begin()) {}

  /// The first of those that are left; none: all have been seen, or are passed over.
  std::optional<Turn> next();
  /// What follows the job that next() has shown, of those that ask for the same. Not called, or no_such: none.
  void go_on(Next next);

 private:
  static bool later(const Cursor& a, const Cursor& b) { return b.turn < a.turn; }

  const WaitingList* list_;
  WallTime longest_short_;
  std::set<Head>::const_iterator head_;
  std::vector<Cursor> heap_;
  Cursor shown_;
};

template <class Look>
void WaitingList::visit(Look look, WallTime longest_short) const {
  Walk walk(*this, longest_short);
  while (const auto turn = walk.next()) {
    const Next next = look(*turn);
    if (next == Next::none) { return; }
    walk.go_on(next);
  }
}

}  // namespace athanor
