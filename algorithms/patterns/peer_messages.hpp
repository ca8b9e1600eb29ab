#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/schedule/layout.hpp"

namespace athanor {

/// The messages of a collective that is made of them alone (all-to-all, all-to-all-v, gather, scatter, send/receive):
/// where each lies, and how it is cut into PeerRoundShape::parts parts, each with chunks of its own. Messages of one
/// size are cut alike; a part is left out where none would have any of it. Where PeerRoundShape::parts_by_size is set,
/// a message of all-to-all-v has as many parts as its size asks for.
class PeerMessages {
 public:
  /// `most_parts`: at least 1.
  PeerMessages(const Collective& collective, const Layout& layout, std::uint32_t most_parts);

  static Elements granule(const Collective& collective, const Layout& layout, std::uint32_t most_parts);

  std::uint32_t parts() const { return parts_; }
  /// Have all parts of all messages equally many elements? Not of all-to-all-v.
  bool alike() const { return cut_.shape(1) == 0; }
  /// Does the one rank send to the other, or keep its own?
  bool exist(std::uint32_t from, std::uint32_t to) const;
  /// Messages that part `number` takes; an empty block is one.
  std::uint64_t chunks(std::uint32_t from, std::uint32_t to, std::uint32_t number) const;
  /// Of part `number`, counted from the first element of the block: one chunk, and all of them.
  Piece chunk(std::uint32_t from, std::uint32_t to, std::uint32_t number, std::uint64_t chunk) const;
  Piece whole(std::uint32_t from, std::uint32_t to, std::uint32_t number) const;
  /// Where the block begins in the sender's input and in the receiver's output.
  Elements in_input(std::uint32_t from, std::uint32_t to) const;
  Elements in_output(std::uint32_t from, std::uint32_t to) const;
  Elements size(std::uint32_t from, std::uint32_t to) const;
  /// Chunks but the last have so many elements.
  Elements chunk_size() const { return chunk_; }
  Elements message_limit() const { return message_limit_; }

 private:
  /// Whose block a message is: those of one number have one size.
  std::uint32_t block(std::uint32_t from, std::uint32_t to) const;
  Piece part(std::uint32_t from, std::uint32_t to, std::uint32_t number) const;
  /// Of a message of all-to-all-v.
  std::uint32_t parts_of(Elements size) const;

  Collective collective_;
  BlockCut cut_;
  std::uint32_t parts_;
  std::optional<MessageParts> by_size_;
  Elements grain_;
  Elements chunk_;
  Elements message_limit_;
};

}  // namespace athanor
