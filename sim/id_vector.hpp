#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/ids.hpp"

namespace athanor {

/// The ids from `first` to before `last`, for loops.
template <class Index>
struct IdRange {
  struct Iterator {
    Index at;
    Index operator*() const { return at; }
    Iterator& operator++() {
      ++at.value;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  Index first;
  Index last;

  Iterator begin() const { return {first}; }
  Iterator end() const { return {last}; }
  bool empty() const { return first == last; }
};

/// A vector whose elements have ids of one kind, from 0 on: no other kind of number is an index of it.
template <class Index, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t count) : items_(count) {}
  IdVector(std::size_t count, const T& value) : items_(count, value) {}

  T& operator[](Index index) { return items_[index.value]; }
  const T& operator[](Index index) const { return items_[index.value]; }
  IdRange<Index> ids() const { return {Index{0}, next()}; }
  /// The id that the next element gets.
  Index next() const { return Index{static_cast<std::uint32_t>(items_.size())}; }

  Index push_back(T item) {
    items_.push_back(std::move(item));
    return Index{static_cast<std::uint32_t>(items_.size() - 1)};
  }
  template <class... Parts>
  T& emplace_back(Parts&&... parts) {
    return items_.emplace_back(std::forward<Parts>(parts)...);
  }
  void assign(std::size_t count, const T& value) { items_.assign(count, value); }
  void resize(std::size_t count) { items_.resize(count); }
  void reserve(std::size_t count) { items_.reserve(count); }

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  T& back() { return items_.back(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  bool operator==(const IdVector&) const = default;

 private:
  std::vector<T> items_;
};

}  // namespace athanor
