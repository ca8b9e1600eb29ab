#include "sim/event_queue.hpp"

namespace athanor {

namespace {
constexpr std::size_t kArity = 4;

__extension__ using Key = unsigned __int128;

/// In the order of Event::before, and compared without a branch: which of two is the earlier is hard to guess. Requires
/// a time that is not below zero.
template <class Moment>
Key key(const EventAt<Moment>& event) {
  return Key{static_cast<std::uint64_t>(event.when.count())} << 64U | event.order;
}

/// The earliest of those from `first` on.
template <class Moment>
std::size_t earliest(const std::vector<EventAt<Moment>>& heap, std::size_t first) {
  if (first + kArity <= heap.size()) {
    const EventAt<Moment>* const event = &heap[first];
    const std::size_t a = key(event[1]) < key(event[0]) ? 1 : 0;
    const std::size_t b = key(event[3]) < key(event[2]) ? 3 : 2;
    return first + (key(event[b]) < key(event[a]) ? b : a);
  }
  std::size_t least = first;
  for (std::size_t child = first + 1; child < heap.size(); ++child) {
    if (key(heap[child]) < key(heap[least])) { least = child; }
  }
  return least;
}

}  // namespace

template <class Moment>
void EventQueueOf<Moment>::push(const EventAt<Moment>& event) {
  std::size_t hole = heap_.size();
  heap_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (key(event) >= key(heap_[parent])) { break; }
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = event;
}

template <class Moment>
void EventQueueOf<Moment>::pop() {
  const EventAt<Moment> last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) { return; }
  std::size_t hole = 0;
  for (;;) {
    const std::size_t first = hole * kArity + 1;
    if (first >= heap_.size()) { break; }
    const std::size_t least = earliest(heap_, first);
    if (key(heap_[least]) >= key(last)) { break; }
    heap_[hole] = heap_[least];
    hole = least;
  }
  heap_[hole] = last;
}

template <class Moment>
void EventQueueOf<Moment>::delay(Moment by) {
  for (EventAt<Moment>& event : heap_) { event.when += by; }
}

template class EventQueueOf<Time>;
template class EventQueueOf<WallTime>;

}  // namespace athanor
