#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace athanor {

/// A 4-ary heap in a vector (four children share cache lines, and it is half as deep as a binary one). The entry for
/// which `before` holds against all others is in front. Equal entries have no order among themselves: they stop at
/// once, so that many equal ones are cheap. `placed(entry, place)` is told wherever an entry comes to stand.
constexpr std::size_t kHeapArity = 4;

struct PlacesIgnored {
  template <class Entry>
  void operator()(const Entry&, std::size_t) const {}
};

/// Puts `entry` into the hole or above it.
template <class Entry, class Placed = PlacesIgnored>
void heap_rise(std::vector<Entry>& heap, std::size_t hole, const Entry entry, Placed placed = {}) {
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kHeapArity;
    if (!entry.before(heap[parent])) { break; }
    heap[hole] = heap[parent];
    placed(heap[hole], hole);
    hole = parent;
  }
  heap[hole] = entry;
  placed(entry, hole);
}

/// The least of the children from `first` on, of equal ones the first. Four are compared without a branch: which is
/// least cannot be foretold.
template <class Entry>
std::size_t heap_least_of(const std::vector<Entry>& heap, std::size_t first) {
  const auto later = [&heap](std::size_t a, std::size_t b) { return std::size_t{heap[b].before(heap[a])}; };
  if (first + kHeapArity <= heap.size()) {
    const std::size_t a = first + later(first, first + 1);
    const std::size_t b = first + 2 + later(first + 2, first + 3);
    return a + later(a, b) * (b - a);
  }
  std::size_t least = first;
  for (std::size_t child = first + 1; child < heap.size(); ++child) {
    if (heap[child].before(heap[least])) { least = child; }
  }
  return least;
}

/// Puts `entry` into the hole or below it.
template <class Entry, class Placed = PlacesIgnored>
void heap_sink(std::vector<Entry>& heap, std::size_t hole, const Entry entry, Placed placed = {}) {
  for (;;) {
    const std::size_t first = hole * kHeapArity + 1;
    if (first >= heap.size()) { break; }
    const std::size_t least = heap_least_of(heap, first);
    if (!heap[least].before(entry)) { break; }
    heap[hole] = heap[least];
    placed(heap[hole], hole);
    hole = least;
  }
  heap[hole] = entry;
  placed(entry, hole);
}

template <class Entry, class Placed = PlacesIgnored>
void heap_push(std::vector<Entry>& heap, const Entry& entry, Placed placed = {}) {
  heap.push_back(entry);
  heap_rise(heap, heap.size() - 1, entry, placed);
}

/// Takes the front entry out. Requires a heap that is not empty.
template <class Entry, class Placed = PlacesIgnored>
void heap_pop(std::vector<Entry>& heap, Placed placed = {}) {
  const Entry last = heap.back();
  heap.pop_back();
  if (!heap.empty()) { heap_sink(heap, 0, last, placed); }
}

}  // namespace athanor
