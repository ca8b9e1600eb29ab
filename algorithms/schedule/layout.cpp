#include "algorithms/schedule/layout.hpp"

#include <algorithm>

namespace athanor {

namespace {

Elements rounded_up(Elements count, Elements grain) { return grain * ceil_div(count.count(), grain.count()); }

Elements divided_up(Elements count, std::int64_t parts) { return Elements{ceil_div(count.count(), parts)}; }

/// The chunk that a part needs if all of it goes in one loop, but at most the layout's; a multiple of the grain.
Elements fitted_chunk(Elements part, std::uint32_t pieces, const Layout& layout) {
  const Elements needed = rounded_up(divided_up(part, pieces), layout.grain);
  const Elements allowed = layout.chunk - layout.chunk % layout.grain;
  return std::max(layout.grain, std::min(needed, allowed));
}

/// Most elements of a slice of that chunk.
Elements fitted_slice(Elements chunk, std::uint32_t slices, Elements grain, Elements least) {
  return std::min(chunk, rounded_up(std::max(least, divided_up(chunk, slices)), grain));
}

Elements clipped(Elements end, Elements low, Elements high) { return std::min(high, std::max(low, end)); }

}  // namespace

ElementRange block(Elements count, std::uint32_t ranks, std::uint32_t rank) {
  const Elements whole = divided_up(count, ranks);
  const Elements first = std::min(whole * rank, count);
  return {first, std::min(whole, count - first)};
}

Elements granule_of_whole(const Collective&, const Layout& layout) { return VectorCut::granule(1, layout); }

Elements granule_of_pieces(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(collective.ranks, layout);
}

Elements granule_of_blocks(const Collective& collective, const Layout& layout) {
  return BlockCut::granule(collective.ranks, layout);
}

Layout slices_as_chunks(const Layout& layout) {
  Layout result = layout;
  result.slices = 1;
  if (layout.chunk < Elements::max()) { result.chunk = divided_up(layout.chunk, layout.slices); }
  return result;
}

VectorCut::VectorCut(Elements count, std::uint32_t pieces, const Layout& layout)
    : pieces_(pieces), slices_(layout.slices), grain_(layout.grain), least_slice_(layout.least_slice) {
  const Elements part = rounded_up(divided_up(count, layout.channels), grain_);
  if (part > Elements::zero()) { channels_ = static_cast<std::uint32_t>(ceil_div(count.count(), part.count())); }
  channels_ = std::max(channels_, 1U);
  chunk_ = fitted_chunk(part, pieces, layout);
  slice_ = std::min(slice_of(chunk_), std::max(count, Elements{1}));
  full_ = part_of(part);
  last_ = part_of(count - part * (channels_ - 1));
  equal_ = full_.length == last_.length;
}

Elements VectorCut::granule(std::uint32_t pieces, const Layout& layout) {
  return layout.grain * layout.channels * pieces;
}

Elements VectorCut::slice_of(Elements chunk) const { return fitted_slice(chunk, slices_, grain_, least_slice_); }

VectorCut::Part VectorCut::part_of(Elements length) const {
  Part result;
  result.length = length;
  result.loops = static_cast<std::uint64_t>(std::max<std::int64_t>(1, ceil_div(length.count(), shift().count())));
  const Elements left = length - shift() * static_cast<std::int64_t>(result.loops - 1);
  result.tail_chunk = rounded_up(divided_up(left, pieces_), grain_);
  result.tail_slice = slice_of(result.tail_chunk);
  return result;
}

ElementRange VectorCut::pieces(std::uint32_t channel, std::uint64_t loop, std::uint32_t first,
                               std::uint32_t length) const {
  const Part& mine = part(channel);
  const Elements chunk = loop + 1 < mine.loops ? chunk_ : mine.tail_chunk;
  const Elements base = full_.length * channel;
  const Elements low = shift() * static_cast<std::int64_t>(loop) + chunk * first;
  const Elements begin = std::min(low, mine.length);
  return {base + begin, std::min(low + chunk * length, mine.length) - begin};
}

ElementRange VectorCut::slice(std::uint32_t channel, std::uint64_t loop, std::uint32_t piece,
                              std::uint32_t slice) const {
  const ElementRange whole = pieces(channel, loop, piece, 1);
  if (slices_ == 1) { return whole; }
  const Part& mine = part(channel);
  const Elements length = loop + 1 < mine.loops ? slice_of(chunk_) : mine.tail_slice;
  const Elements begin = std::min(length * slice, whole.count);
  return {whole.first + begin, std::min(length, whole.count - begin)};
}

std::optional<std::uint32_t> VectorCut::slice_period(std::uint32_t channel, std::uint64_t loop) const {
  if (piece(channel, loop, 0).count != piece(channel, loop, pieces_ - 1).count) { return {}; }
  return slice(channel, loop, 0, 0).count == slice(channel, loop, 0, slices_ - 1).count ? 1 : slices_;
}

BlockCut::BlockCut(Elements count, std::uint32_t blocks, const Layout& layout)
    : count_(count),
      blocks_(blocks),
      slices_(layout.slices),
      grain_(layout.grain),
      least_slice_(layout.least_slice),
      block_(divided_up(count, blocks)) {
  part_ = rounded_up(divided_up(block_, layout.channels), grain_);
  if (part_ > Elements::zero()) { channels_ = static_cast<std::uint32_t>(ceil_div(block_.count(), part_.count())); }
  chunk_ = fitted_chunk(part_, 1, layout);
  equal_ = length(blocks_ - 1) == block_ && block_ == part_ * channels_;
  message_limit_ = Elements{1};
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    loops_.push_back(loops_in(channel));
    const Elements largest = std::max(chunk_in(channel, 0), chunk_in(channel, loops(channel) - 1));
    message_limit_ = std::max(message_limit_, std::min(slice_of(largest), block_));
  }
}

Elements BlockCut::granule(std::uint32_t blocks, const Layout& layout) {
  return layout.grain * layout.channels * blocks;
}

Elements BlockCut::slice_of(Elements chunk) const { return fitted_slice(chunk, slices_, grain_, least_slice_); }

Elements BlockCut::first(std::uint32_t block) const { return std::min(block_ * block, count_); }

Elements BlockCut::length(std::uint32_t block) const { return std::min(block_, count_ - first(block)); }

Elements BlockCut::length_in(std::uint32_t block, std::uint32_t channel) const {
  return clipped(length(block) - part_ * channel, Elements::zero(), part_);
}

std::uint64_t BlockCut::loops_in(std::uint32_t channel) const {
  const std::int64_t full_everywhere = length_in(blocks_ - 1, channel) / chunk_;
  const std::int64_t needed = ceil_div(length_in(0, channel).count(), chunk_.count());
  return static_cast<std::uint64_t>(std::min(full_everywhere, std::max<std::int64_t>(needed - 1, 0))) + 1;
}

Elements BlockCut::chunk_in(std::uint32_t channel, std::uint64_t loop) const {
  if (loop + 1 < loops(channel)) { return chunk_; }
  return length_in(0, channel) - chunk_ * static_cast<std::int64_t>(loop);
}

ElementRange BlockCut::slice(std::uint32_t block, std::uint32_t channel, std::uint64_t loop,
                             std::uint32_t slice) const {
  const Elements chunk = chunk_in(channel, loop);
  const Elements low = chunk_ * static_cast<std::int64_t>(loop);
  const Elements end = std::min(low + chunk, length_in(block, channel));
  const Elements length = slice_of(chunk);
  const Elements begin = std::min(low + length * slice, end);
  return {std::min(part_ * channel, this->length(block)) + begin, std::min(length, end - begin)};
}

std::optional<std::uint32_t> BlockCut::slice_period(std::uint32_t channel, std::uint64_t loop) const {
  const Elements full = chunk_ * static_cast<std::int64_t>(loop) + chunk_in(channel, loop);
  if (length_in(blocks_ - 1, channel) < std::min(full, length_in(0, channel))) { return {}; }
  return slice(0, channel, loop, 0).count == slice(0, channel, loop, slices_ - 1).count ? 1 : slices_;
}

RingOrder::RingOrder(std::uint32_t ranks, const Layout& layout, Direction direction)
    : ranks_(ranks),
      group_(layout.group == 0 ? ranks : layout.group),
      rotation_(layout.rotation),
      backwards_(direction == Direction::backwards) {
  if (layout.orders == nullptr) { return; }
  paths_ = static_cast<std::uint32_t>(layout.orders->even.size());
  for (std::uint32_t path = 0; path < paths_; ++path) {
    for (const auto* paths : {&layout.orders->even, &layout.orders->odd}) {
      places_.insert(places_.end(), (*paths)[path].begin(), (*paths)[path].end());
    }
  }
  steps_.resize(places_.size());
  for (std::uint32_t i = 0; i < places_.size(); ++i) { steps_[i - i % group_ + places_[i]] = i % group_; }
}

std::uint32_t RingOrder::offset(std::uint32_t channel) const {
  if (rotation_ == 0) { return 0; }
  return static_cast<std::uint32_t>((std::uint64_t{channel} * rotation_ + 1) % group_);
}

std::uint32_t RingOrder::rank(std::uint32_t channel, std::uint32_t position) const {
  const std::uint32_t inside = turned(position) % group_;
  const std::uint32_t first = turned(position) - inside;
  if (paths_ > 0) { return first + places_[path(channel, first / group_) + inside]; }
  const std::uint32_t place = inside + offset(channel);
  return first + (place < group_ ? place : place - group_);
}

std::uint32_t RingOrder::position(std::uint32_t channel, std::uint32_t rank) const {
  const std::uint32_t inside = rank % group_;
  const std::uint32_t first = rank - inside;
  if (paths_ > 0) { return turned(first + steps_[path(channel, first / group_) + inside]); }
  const std::uint32_t before = offset(channel);
  return turned(first + inside + (inside < before ? group_ : 0) - before);
}

std::uint32_t RingOrder::next(std::uint32_t channel, std::uint32_t rank_) const {
  return rank(channel, (position(channel, rank_) + 1) % ranks_);
}

std::uint32_t RingOrder::previous(std::uint32_t channel, std::uint32_t rank_) const {
  return rank(channel, (position(channel, rank_) + ranks_ - 1) % ranks_);
}

}  // namespace athanor
