#include "models/shared_memory/lru_order.hpp"

#include "sim/check.hpp"

namespace athanor {

namespace {

std::size_t lowest_bit(std::size_t i) { return i & (~i + 1); }

}  // namespace

LruOrder::Stamp LruOrder::touch(Stamp stamp, Bytes bytes) {
  if (stamp != kNever) { drop(stamp, bytes); }
  ++last_;
  if (last_ == tree_.size()) { grow(); }
  add(last_, bytes.count());
  return last_;
}

void LruOrder::drop(Stamp stamp, Bytes bytes) {
  require(stamp != kNever && bytes_[stamp] >= bytes.count(), "{} bytes to drop of {}", bytes.count(), bytes_[stamp]);
  add(stamp, -bytes.count());
}

Bytes LruOrder::since(Stamp stamp) const {
  std::int64_t before = 0;
  for (std::size_t i = stamp - 1; i > 0; i -= lowest_bit(i)) { before += tree_[i]; }
  return Bytes{total_ - before};
}

void LruOrder::add(Stamp stamp, std::int64_t bytes) {
  total_ += bytes;
  bytes_[stamp] += bytes;
  for (std::size_t i = stamp; i < tree_.size(); i += lowest_bit(i)) { tree_[i] += bytes; }
}

void LruOrder::grow() {
  const std::size_t size = 2 * tree_.size();
  bytes_.resize(size);
  tree_ = bytes_;
  for (std::size_t i = 1; i < size; ++i) {
    const std::size_t above = i + lowest_bit(i);
    if (above < size) { tree_[above] += tree_[i]; }
  }
}

}  // namespace athanor
