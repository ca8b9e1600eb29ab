#include "models/shared_memory/caches.hpp"

#include <algorithm>

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

namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

/// How many of `bytes` a cache of this size keeps after so much was touched.
Bytes kept(Bytes bytes, Bytes size, Bytes touched) {
  const Wide most = Wide{size.count()} * 6;  // in quarters: nothing is kept from 6/4 of the size on
  const Wide width = Wide{size.count()} * 3;
  const Wide share = std::clamp<Wide>(most - Wide{touched.count()} * 4, 0, width);
  return Bytes{static_cast<std::int64_t>(Wide{bytes.count()} * share / width)};
}

Time taking(Bytes bytes, Bandwidth rate) {
  return bytes == Bytes::zero() || rate == Bandwidth::max() ? Time::zero() : transfer_time(bytes, rate);
}

}  // namespace

Caches::Caches(const ThreadCosts& costs, std::uint32_t processors)
    : costs_(costs), processors_(processors), recency_(processors) {}

Time Caches::access(std::uint32_t processor, std::span<const Access> accesses) {
  Time time;
  for (const Access& access : accesses) { cover(access.first, access.end); }
  const auto each = [&](const Access& access, auto visit) {
    for (auto at = segments_.find(access.first); at != segments_.end() && at->first < access.end; ++at) {
      visit(at->second, Bytes{at->second.end - at->first});
    }
  };
  for (const Access& access : accesses) {
    bool remote = false;
    each(access,
         [&](const Segment& segment, Bytes bytes) { time += price(processor, segment, bytes, access.writes, remote); });
    if (remote) { time += costs_.remote_latency; }
  }
  for (const Access& access : accesses) {
    each(access, [&](Segment& segment, Bytes bytes) { mark(processor, segment, bytes, access.writes); });
  }
  return time;
}

Time Caches::again(Bytes bytes) const {
  return costs_.caches.empty() ? taking(bytes, costs_.memory_rate) : taking(bytes, costs_.caches.front().rate);
}

/// The segment that begins at this address, which is split off from the one that it lies in; or the end.
Caches::Segments::iterator Caches::cut(std::int64_t at) {
  auto after = segments_.lower_bound(at);
  if (after != segments_.end() && after->first == at) { return after; }
  if (after == segments_.begin()) { return segments_.end(); }
  Segment& before = std::prev(after)->second;
  if (before.end <= at) { return segments_.end(); }
  Segment right = before;
  before.end = at;
  return segments_.emplace_hint(after, at, std::move(right));
}

/// Makes the range begin and end with a segment, and fills gaps with segments that nobody has touched.
void Caches::cover(std::int64_t first, std::int64_t end) {
  if (first == end) { return; }
  cut(first);
  cut(end);
  std::int64_t at = first;
  for (auto next = segments_.lower_bound(first); at < end; ++next) {
    const std::int64_t begin = next == segments_.end() ? end : std::min(next->first, end);
    if (begin > at) {
      Segment fresh;
      fresh.end = begin;
      fresh.stamps.assign(processors_, LruOrder::kNever);
      next = segments_.emplace_hint(next, at, std::move(fresh));
    }
    at = next->second.end;
  }
}

Time Caches::price(std::uint32_t processor, const Segment& segment, Bytes bytes, bool writes, bool& remote) const {
  const auto holds = [&](std::uint32_t other) {
    return other != processor && segment.stamps[other] != LruOrder::kNever;
  };
  const LruOrder::Stamp own = segment.stamps[processor];
  std::uint32_t other = kNobody;
  for (std::uint32_t p = 0; p < processors_; ++p) {
    if (holds(p) && (writes || (own == LruOrder::kNever && segment.writer == p))) { other = p; }
  }
  Bytes left = bytes;
  Time time;
  if (other != kNobody) {
    time += from_private(other, segment.stamps[other], true, bytes, left);
    remote = remote || left < bytes;
  } else if (own != LruOrder::kNever) {
    time += from_private(processor, own, false, bytes, left);
  }
  return time + from_shared(segment, left);
}

/// Of `bytes`, what the private caches of their owner keep; `left` is what they do not.
Time Caches::from_private(std::uint32_t owner, LruOrder::Stamp stamp, bool remote, Bytes bytes, Bytes& left) const {
  const Bytes touched = recency_[owner].since(stamp);
  Time time;
  for (const CacheLevel& level : costs_.caches) {
    if (level.shared) { break; }
    const Bytes beyond = bytes - std::max(bytes - left, kept(bytes, level.size, touched));
    time += taking(left - beyond, remote ? level.remote_rate : level.rate);
    left = beyond;
  }
  return time;
}

Time Caches::from_shared(const Segment& segment, Bytes left) const {
  if (left == Bytes::zero()) { return Time::zero(); }
  const Bytes bytes = left;
  Time time;
  for (const CacheLevel& level : costs_.caches) {
    if (!level.shared || segment.anyone == LruOrder::kNever) { continue; }
    const Bytes beyond = bytes - std::max(bytes - left, kept(bytes, level.size, anyone_.since(segment.anyone)));
    time += taking(left - beyond, level.rate);
    left = beyond;
  }
  return time + taking(left, costs_.memory_rate);
}

void Caches::mark(std::uint32_t processor, Segment& segment, Bytes bytes, bool writes) {
  if (bytes == Bytes::zero()) { return; }
  segment.anyone = anyone_.touch(segment.anyone, bytes);
  segment.stamps[processor] = recency_[processor].touch(segment.stamps[processor], bytes);
  if (!writes) { return; }
  segment.writer = processor;
  for (std::uint32_t other = 0; other < processors_; ++other) {
    if (other == processor || segment.stamps[other] == LruOrder::kNever) { continue; }
    recency_[other].drop(segment.stamps[other], bytes);
    segment.stamps[other] = LruOrder::kNever;
  }
}

}  // namespace athanor
