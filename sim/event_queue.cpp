#include "sim/event_queue.hpp"

#include <algorithm>

namespace athanor {

namespace {
constexpr std::size_t kArity = 4;
}

void EventQueue::push(const Event& event) {
  std::size_t hole = heap_.size();
  heap_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!event.before(heap_[parent])) { break; }
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = event;
}

void EventQueue::pop() {
  const Event last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) { return; }
  std::size_t hole = 0;
  for (;;) {
    const std::size_t first = hole * kArity + 1;
    if (first >= heap_.size()) { break; }
    const std::size_t end = std::min(first + kArity, heap_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].before(heap_[least])) { least = child; }
    }
    if (!heap_[least].before(last)) { break; }
    heap_[hole] = heap_[least];
    hole = least;
  }
  heap_[hole] = last;
}

void EventQueue::delay(Time by) {
  for (Event& event : heap_) { event.when += by; }
}

}  // namespace athanor
