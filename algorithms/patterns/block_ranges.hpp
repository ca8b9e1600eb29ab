#pragma once

#include <cstdint>

#include "algorithms/schedule/layout.hpp"

namespace athanor {

/// The layout for messages of up to so many pieces or blocks, none of which then exceeds its chunk.
Layout for_messages_of(std::uint32_t pieces, const Layout& layout);

/// Ranges of the blocks that ranks divide a vector into, for algorithms whose messages hold several of them. Every
/// channel and loop has the same part of each block (see BlockCut), so that a range of blocks is strided; blocks are
/// full but for one, and those after it empty.
class BlockRanges : public BlockCut {
 public:
  /// `most_blocks`: of one message, which the layout's chunk bounds.
  BlockRanges(Elements count, std::uint32_t ranks, const Layout& layout, std::uint32_t most_blocks);

  /// The most that any channel and loop has of a block.
  Elements widest() const { return message_limit(); }

  /// One channel's part of one block in one loop, counted from the first element of the block.
  ElementRange part(std::uint32_t block, std::uint32_t channel, std::uint64_t loop) const {
    return slice(block, channel, loop, 0);
  }
  /// Of a full block.
  Elements width(std::uint32_t channel, std::uint64_t loop) const { return part(0, channel, loop).count; }
  /// Elements of `blocks` successive blocks. Requires first + blocks <= ranks.
  Elements elements(std::uint32_t first, std::uint32_t blocks, std::uint32_t channel, std::uint64_t loop) const;
  /// The same where block 0 follows the last; requires blocks <= ranks.
  Elements around(std::uint32_t first, std::uint32_t blocks, std::uint32_t channel, std::uint64_t loop) const;
  /// The same of `blocks` blocks each `distance` after the one before.
  Elements elements_apart(std::uint32_t first, std::uint32_t blocks, std::uint32_t distance, std::uint32_t channel,
                          std::uint64_t loop) const;
  /// Where the blocks from `first` on lie in the vector, each `distance` after the one before; with elements() or
  /// elements_apart() as count.
  Cells cells(Buffer buffer, std::uint32_t first, std::uint32_t channel, std::uint64_t loop,
              std::uint32_t distance = 1) const;

 private:
  std::uint32_t ranks_;
  Elements block_;
  std::uint32_t full_ = 0;  ///< blocks that are full: 0 .. full - 1
};

}  // namespace athanor
