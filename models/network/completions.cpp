#include "models/network/completions.hpp"

namespace athanor {

ConnectionId Completions::pop() {
  const ConnectionId connection = heap_.front().connection;
  place_[connection] = kOut;
  heap_pop(heap_, remember_place());
  return connection;
}

void Completions::set(ConnectionId connection, Time when) {
  const Entry entry{when, connection};
  const std::uint32_t place = place_[connection];
  if (place == kOut) {
    heap_push(heap_, entry, remember_place());
  } else if (when < heap_[place].when) {
    heap_rise(heap_, place, entry, remember_place());
  } else {
    heap_sink(heap_, place, entry, remember_place());
  }
}

void Completions::fast_forward(Time by) {
  for (Entry& entry : heap_) { entry.when += by; }
}

}  // namespace athanor
