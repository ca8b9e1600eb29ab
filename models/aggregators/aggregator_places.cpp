#include "models/aggregators/aggregator_places.hpp"

#include <numeric>

#include "sim/random.hpp"

namespace athanor {

AggregatorPlaces::AggregatorPlaces(std::uint32_t slots, std::uint32_t window, std::uint64_t seed)
    : order_(slots), used_(slots) {
  if (slots == 0) { return; }
  std::iota(order_.begin(), order_.end(), 0U);
  RandomStream(seed, "slots of a job").shuffle(order_);
  for (std::uint32_t k = 0; k < window; ++k) {
    const std::uint32_t slot = order_[k % slots];
    places_.push_back({0, slot, slot});
    used_[slot] = true;
  }
  cursor_ = window % slots;
}

void AggregatorPlaces::change(std::uint32_t sequence) {
  Place& place = places_[sequence % places_.size()];
  for (std::size_t looked = 0; looked < order_.size(); ++looked) {
    const std::uint32_t slot = order_[cursor_];
    cursor_ = (cursor_ + 1) % static_cast<std::uint32_t>(order_.size());
    if (used_[slot]) { continue; }
    used_[place.slot] = false;
    used_[slot] = true;
    place = {sequence + static_cast<std::uint32_t>(places_.size()), slot, place.slot};
    return;
  }
}

}  // namespace athanor
