#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// The slots of a switch that a job of ATP uses, one for each place in its window, all different as long as there are
/// enough: those that a pseudo-random order of its own names first. Where a packet met a collision the server names the
/// next one that the job does not use, for the packets behind it (the hosts' programs of https://github.com/in-ATP/ATP,
/// common/HashTable.cc and CHANGE_AGTR_ENABLE).
class AggregatorPlaces {
 public:
  /// Requires window > 0; `slots` may be 0, then there are no places.
  AggregatorPlaces(std::uint32_t slots, std::uint32_t window, std::uint64_t seed);

  std::uint32_t slot(std::uint32_t sequence) const {
    const Place& place = places_[sequence % places_.size()];
    return sequence >= place.from ? place.slot : place.before;
  }
  /// The packet met a collision and its result is known: those that follow it at its place use another slot.
  void change(std::uint32_t sequence);

 private:
  struct Place {
    std::uint32_t from = 0;  ///< packet from which on `slot` holds
    std::uint32_t slot = 0;
    std::uint32_t before = 0;  ///< what held for the packet before
  };
  std::vector<Place> places_;
  std::vector<std::uint32_t> order_;
  std::vector<bool> used_;    ///< by slot
  std::uint32_t cursor_ = 0;  ///< into order_: to be looked at next
};

}  // namespace athanor
