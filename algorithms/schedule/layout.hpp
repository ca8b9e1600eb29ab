#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// A contiguous piece of a vector; an empty one is legal, and still sent.
struct ElementRange {
  Elements first;
  Elements count;
  bool operator==(const ElementRange&) const = default;
};

inline Cells contiguous(Buffer buffer, Elements first) { return {buffer, first, Elements::zero(), Elements::zero()}; }

/// Rank r's part of a vector that ranks divide: elements [r * ceil(count / ranks), ...) clipped.
ElementRange block(Elements count, std::uint32_t ranks, std::uint32_t rank);

/// Granules (Algorithm::granule) of collectives whose loops move a chunk of the vector in one piece, one of a piece for
/// each rank, or a chunk of each rank's block.
Elements granule_of_whole(const Collective& collective, const Layout& layout);
Elements granule_of_pieces(const Collective& collective, const Layout& layout);
Elements granule_of_blocks(const Collective& collective, const Layout& layout);

/// For algorithms whose messages do not depend on each other: a slice becomes the chunk.
Layout slices_as_chunks(const Layout& layout);

/// One vector cut for an algorithm that moves `pieces` chunks per loop (a ring over P ranks: P; a tree: 1).
/// A channel has a contiguous part of the vector and loops over it, pieces * chunk() elements at a time; the last loop
/// divides what is left evenly. A channel that would get nothing does not exist, but for the first.
/// Counts that are a multiple of granule() are cut so that all channels and all pieces of a loop are equal.
class VectorCut {
 public:
  /// Requires count >= 0, pieces > 0 and a layout that invalid() accepts.
  VectorCut(Elements count, std::uint32_t pieces, const Layout& layout);

  static Elements granule(std::uint32_t pieces, const Layout& layout);

  std::uint32_t channels() const { return channels_; }
  std::uint32_t slices() const { return slices_; }
  std::uint64_t loops(std::uint32_t channel) const { return channel + 1 < channels_ ? full_.loops : last_.loops; }
  /// Elements by which a loop moves on.
  Elements shift() const { return chunk_ * pieces_; }
  Elements chunk() const { return chunk_; }
  /// Most elements of one slice.
  Elements message_limit() const { return slice_; }
  /// Equal for channels with equally many elements.
  std::uint32_t shape(std::uint32_t channel) const { return channel + 1 < channels_ || equal_ ? 0 : 1; }

  /// `length` successive pieces, which are not sliced.
  ElementRange pieces(std::uint32_t channel, std::uint64_t loop, std::uint32_t first, std::uint32_t length) const;
  ElementRange piece(std::uint32_t channel, std::uint64_t loop, std::uint32_t piece) const {
    return pieces(channel, loop, piece, 1);
  }
  ElementRange slice(std::uint32_t channel, std::uint64_t loop, std::uint32_t piece, std::uint32_t slice) const;
  /// After so many slices of a loop, one piece after the other, their lengths come again; none: they do not.
  std::optional<std::uint32_t> slice_period(std::uint32_t channel, std::uint64_t loop) const;

 private:
  struct Part {
    Elements length;
    std::uint64_t loops = 1;
    Elements tail_chunk;
    Elements tail_slice;
  };
  Part part_of(Elements length) const;
  const Part& part(std::uint32_t channel) const { return channel + 1 < channels_ ? full_ : last_; }
  Elements slice_of(Elements chunk) const;

  std::uint32_t pieces_;
  std::uint32_t slices_;
  Elements grain_;
  Elements least_slice_;
  std::uint32_t channels_ = 1;
  Elements chunk_;
  Elements slice_;
  Part full_;
  Part last_;
  bool equal_ = true;
};

/// A vector of one block per rank, all of which are cut alike: a channel has the same part of every block, a loop the
/// same chunk of it. Loops before the last are full in every block; so where the last blocks are short, the chunks of
/// the last loop exceed Layout::chunk by less than the number of blocks.
class BlockCut {
 public:
  BlockCut(Elements count, std::uint32_t blocks, const Layout& layout);

  static Elements granule(std::uint32_t blocks, const Layout& layout);

  std::uint32_t channels() const { return channels_; }
  std::uint32_t slices() const { return slices_; }
  std::uint64_t loops(std::uint32_t channel) const { return loops_[channel]; }
  /// Elements by which a loop moves on in every block.
  Elements shift() const { return chunk_; }
  Elements message_limit() const { return message_limit_; }
  /// Equal for channels with equally many elements in every block.
  std::uint32_t shape(std::uint32_t channel) const { return equal_ ? 0 : channel; }

  Elements first(std::uint32_t block) const;
  Elements length(std::uint32_t block) const;
  /// Counted from the first element of the block.
  ElementRange slice(std::uint32_t block, std::uint32_t channel, std::uint64_t loop, std::uint32_t slice) const;
  /// After so many slices of a loop, one block after the other, their lengths come again; none: they do not.
  std::optional<std::uint32_t> slice_period(std::uint32_t channel, std::uint64_t loop) const;

 private:
  Elements length_in(std::uint32_t block, std::uint32_t channel) const;
  std::uint64_t loops_in(std::uint32_t channel) const;
  Elements chunk_in(std::uint32_t channel, std::uint64_t loop) const;
  Elements slice_of(Elements chunk) const;

  Elements count_;
  std::uint32_t blocks_;
  std::uint32_t slices_;
  Elements grain_;
  Elements least_slice_;
  Elements block_;
  Elements part_;
  std::uint32_t channels_ = 1;
  Elements chunk_;
  Elements message_limit_;
  std::vector<std::uint64_t> loops_;  ///< by channel
  bool equal_ = true;
};

/// Which way round data flows.
enum class Direction : std::uint8_t { forwards, backwards };

/// The order in which the ring of each channel visits the ranks (see Layout), or the opposite order. Holds the paths of
/// the layout's orders and their inverse, and nothing per rank. Groups follow each other as they are numbered.
class RingOrder {
 public:
  /// Requires a layout that invalid() accepts.
  RingOrder(std::uint32_t ranks, const Layout& layout, Direction direction = Direction::forwards);

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t rank(std::uint32_t channel, std::uint32_t position) const;
  std::uint32_t position(std::uint32_t channel, std::uint32_t rank) const;
  std::uint32_t next(std::uint32_t channel, std::uint32_t rank) const;
  std::uint32_t previous(std::uint32_t channel, std::uint32_t rank) const;

 private:
  std::uint32_t offset(std::uint32_t channel) const;
  std::uint32_t turned(std::uint32_t position) const { return backwards_ ? ranks_ - 1 - position : position; }
  /// Where the channel's path through that group begins in `places_` and `steps_`.
  std::size_t path(std::uint32_t channel, std::uint32_t group) const {
    return (std::size_t{channel % paths_} * 2 + group % 2) * group_;
  }

  std::uint32_t ranks_;
  std::uint32_t group_;
  std::uint32_t rotation_;
  bool backwards_;
  std::uint32_t paths_ = 0;            ///< of the layout's orders; 0: rotated
  std::vector<std::uint32_t> places_;  ///< by path, parity of the group and step: the place that is visited
  std::vector<std::uint32_t> steps_;   ///< by path, parity of the group and place: the step that visits it
};

}  // namespace athanor
