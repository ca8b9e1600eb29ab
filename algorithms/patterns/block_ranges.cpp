#include "algorithms/patterns/block_ranges.hpp"

#include <algorithm>

namespace athanor {

Layout for_messages_of(std::uint32_t pieces, const Layout& layout) {
  Layout result = slices_as_chunks(layout);
  if (result.chunk < Elements::max()) { result.chunk = std::max(Elements{1}, result.chunk / pieces); }
  return result;
}

BlockRanges::BlockRanges(Elements count, std::uint32_t ranks, const Layout& layout, std::uint32_t most_blocks)
    : BlockCut(count, ranks, for_messages_of(most_blocks, layout)), ranks_(ranks), block_(length(0)) {
  if (block_ > Elements::zero()) { full_ = static_cast<std::uint32_t>(count / block_); }
}

Elements BlockRanges::elements(std::uint32_t first, std::uint32_t blocks, std::uint32_t channel,
                               std::uint64_t loop) const {
  return elements_apart(first, blocks, 1, channel, loop);
}

Elements BlockRanges::elements_apart(std::uint32_t first, std::uint32_t blocks, std::uint32_t distance,
                                     std::uint32_t channel, std::uint64_t loop) const {
  const std::uint32_t before_full = first < full_ ? (full_ - first + distance - 1) / distance : 0;
  const std::uint32_t whole = std::min(blocks, before_full);
  Elements sum = width(channel, loop) * whole;
  if (whole < blocks && first + whole * distance == full_) { sum += part(full_, channel, loop).count; }
  return sum;
}

Elements BlockRanges::around(std::uint32_t first, std::uint32_t blocks, std::uint32_t channel,
                             std::uint64_t loop) const {
  const std::uint32_t before_end = std::min(blocks, ranks_ - first);
  return elements(first, before_end, channel, loop) + elements(0, blocks - before_end, channel, loop);
}

Cells BlockRanges::cells(Buffer buffer, std::uint32_t first, std::uint32_t channel, std::uint64_t loop,
                         std::uint32_t distance) const {
  const Elements begin = this->first(first) + part(first, channel, loop).first;
  return {buffer, begin, width(channel, loop), block_ * distance};
}

}  // namespace athanor
