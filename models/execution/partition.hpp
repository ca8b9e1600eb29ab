#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace athanor {

/// A colour stands for all that is known to tell a thing apart. 64 bits of a strong mix: that two of 10^7 differing
/// things share one is a matter of 10^-6, and `fold` checks the counts on which exactness rests.
using Colour = std::uint64_t;

inline Colour mix(Colour a, Colour b) {
  Colour x = a ^ (b + 0x9e3779b97f4a7c15U + (a << 12U) + (a >> 4U));
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Counts distinct colours, and numbers them in the order in which they are first seen. Few among many things take
/// little memory.
class ClassNumbering {
 public:
  std::uint32_t number(Colour colour) {
    const Slot& known = slots_[place_of(colour)];
    if (known.used) { return known.number; }
    if (2 * (count_ + std::size_t{1}) > slots_.size()) { grow(); }
    slots_[place_of(colour)] = {colour, count_, true};
    return count_++;
  }
  std::uint32_t count() const { return count_; }

 private:
  struct Slot {
    Colour colour = 0;
    std::uint32_t number = 0;
    bool used = false;
  };

  /// Where it is, or where it belongs.
  std::size_t place_of(Colour colour) const {
    std::size_t at = colour & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].colour != colour) { at = (at + 1) & (slots_.size() - 1); }
    return at;
  }
  void grow() {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : before) {
      if (slot.used) { slots_[place_of(slot.colour)] = slot; }
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(16);
  std::uint32_t count_ = 0;
};

/// Things in classes, which only ever split. Classes are numbered from 0.
class Partition {
 public:
  struct Move {
    std::uint32_t thing = 0;
    std::uint32_t from = 0;  ///< its class until now
  };

  /// Things of one colour share a class.
  explicit Partition(const std::vector<Colour>& colours) {
    ClassNumbering numbering;
    of_.reserve(colours.size());
    for (const Colour colour : colours) { of_.push_back(numbering.number(colour)); }
    sizes_.resize(numbering.count());
    for (const std::uint32_t number : of_) { ++sizes_[number]; }
    marked_.resize(numbering.count());
    largest_.resize(numbering.count());
  }

  std::uint32_t of(std::size_t thing) const { return of_[thing]; }
  const std::vector<std::uint32_t>& all() const { return of_; }

  /// `colours`: of `things`, each named once, whose surroundings have changed, so that they differ from all others of
  /// their classes. Of a class the things that are not named keep its number, or, where all are, most of one colour; so
  /// that as few things as possible move, and whoever depends on them has to be looked at again. Returns the others.
  std::vector<Move> split(const std::vector<std::uint32_t>& things, const std::vector<Colour>& colours) {
    std::vector<Group> groups;
    std::vector<std::uint32_t> group_of;
    ClassNumbering numbering;
    group_of.reserve(things.size());
    for (std::size_t k = 0; k < things.size(); ++k) {
      const std::uint32_t group = numbering.number(mix(colours[k], of_[things[k]]));
      if (group == groups.size()) { groups.push_back({of_[things[k]]}); }
      ++groups[group].size;
      group_of.push_back(group);
    }
    number(groups);
    std::vector<Move> moves;
    for (std::size_t k = 0; k < things.size(); ++k) {
      const Group& group = groups[group_of[k]];
      if (group.to == group.from) { continue; }
      of_[things[k]] = group.to;
      moves.push_back({things[k], group.from});
    }
    return moves;
  }

 private:
  struct Group {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t size = 0;
  };

  void number(std::vector<Group>& groups) {
    for (const Group& group : groups) {
      marked_[group.from] += group.size;
      largest_[group.from] = std::max(largest_[group.from], group.size);
    }
    for (Group& group : groups) {
      const bool whole = marked_[group.from] == sizes_[group.from];
      group.to = whole && largest_[group.from] == group.size ? group.from : kNew;
      if (group.to == group.from) { largest_[group.from] = kNew; }  // only one of equally large ones
    }
    for (Group& group : groups) {
      marked_[group.from] = 0;
      largest_[group.from] = 0;
      if (group.to != kNew) { continue; }
      group.to = static_cast<std::uint32_t>(sizes_.size());
      sizes_[group.from] -= group.size;
      sizes_.push_back(group.size);
      marked_.push_back(0);
      largest_.push_back(0);
    }
  }

  static constexpr std::uint32_t kNew = UINT32_MAX;
  std::vector<std::uint32_t> of_;       ///< by thing
  std::vector<std::uint32_t> sizes_;    ///< by class
  std::vector<std::uint32_t> marked_;   ///< by class, within number(): things that are named
  std::vector<std::uint32_t> largest_;  ///< by class, within number(): things of its largest group
};

/// The classes of one kind of thing, numbered in the order of their first things: for each thing its class, for each
/// class its first member and their number.
struct ClassMembers {
  std::vector<std::uint32_t> of;
  std::vector<std::uint32_t> member;
  std::vector<std::uint32_t> members;

  explicit ClassMembers(const std::vector<std::uint32_t>& numbers) {
    ClassNumbering numbering;
    of.reserve(numbers.size());
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      of.push_back(numbering.number(mix(1, numbers[i])));
      if (of.back() == member.size()) {
        member.push_back(i);
        members.push_back(0);
      }
      ++members[of.back()];
    }
  }
};

/// Things that have to be looked at, each once.
class Worklist {
 public:
  explicit Worklist(std::size_t things) : waiting_(things) {}
  void add(std::size_t thing) {
    if (waiting_[thing]) { return; }
    waiting_[thing] = true;
    things_.push_back(static_cast<std::uint32_t>(thing));
  }
  void add_all() {
    for (std::size_t thing = 0; thing < waiting_.size(); ++thing) { add(thing); }
  }
  bool empty() const { return things_.empty(); }
  std::vector<std::uint32_t> take() {
    for (const std::uint32_t thing : things_) { waiting_[thing] = false; }
    return std::exchange(things_, {});
  }

 private:
  std::vector<bool> waiting_;
  std::vector<std::uint32_t> things_;
};

}  // namespace athanor
