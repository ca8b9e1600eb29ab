#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/schedule/collective.hpp"
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
  bool uniform() const { return cut_.shape(1) == 0; }
  /// Does the one rank send to the other, or keep its own?
  bool exist(std::uint32_t from, std::uint32_t to) const;
  /// Messages that part `number` takes; an empty block is one.
  std::uint64_t chunks(std::uint32_t from, std::uint32_t to, std::uint32_t number) const;
  /// Of part `number`, counted from the first element of the block: one chunk, and all of them.
  ElementRange chunk(std::uint32_t from, std::uint32_t to, std::uint32_t number, std::uint64_t chunk) const;
  ElementRange whole(std::uint32_t from, std::uint32_t to, std::uint32_t number) const;
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
  ElementRange part(std::uint32_t from, std::uint32_t to, std::uint32_t number) const;
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

/// The order in which every rank meets every rank, itself first, as NCCL's. Ranks are cut into equal groups, of at most
/// eight where there are several nodes (Layout::group) and of all where there is one. For each distance between groups
/// there is a round for each distance within a group: a rank sends to the rank so far after it, and receives from the
/// one so far before. Distances between groups are the triangular numbers 0, 1, 3, 6, ... modulo the next power of two,
/// those that are too large left out; so successive rounds go to nodes far apart. Holds two numbers per group.
class PeerRounds {
 public:
  /// Requires a layout that invalid() accepts.
  PeerRounds(std::uint32_t ranks, const Layout& layout);

  /// As many as ranks; round 0 is with oneself.
  std::uint32_t rounds() const { return group_ * groups_; }
  std::uint32_t ranks_in_group() const { return group_; }
  std::uint32_t receiver(std::uint32_t rank, std::uint32_t round) const;
  std::uint32_t sender(std::uint32_t rank, std::uint32_t round) const;
  /// The round in which a rank sends to another, or to itself.
  std::uint32_t round(std::uint32_t from, std::uint32_t to) const;

 private:
  /// Requires no more than all groups and all places.
  std::uint32_t at(std::uint32_t rank, std::uint32_t groups_on, std::uint32_t places_on) const {
    const std::uint32_t group = rank / group_ + groups_on;
    const std::uint32_t place = rank % group_ + places_on;
    return (group < groups_ ? group : group - groups_) * group_ + (place < group_ ? place : place - group_);
  }

  std::uint32_t group_;
  std::uint32_t groups_;
  std::vector<std::uint32_t> distances_;  ///< between groups, by the number of a group of rounds
  std::vector<std::uint32_t> numbers_;    ///< the inverse
};

/// Which channels move a round's parts, and in which turn, as NCCL's. Channels are the greatest power of two that is at
/// most Layout::channels. Part p of round r is on channel (base + p) modulo their number; base is r with its bits
/// reversed, on one node, or the number of the round's group likewise on several. A channel moves its parts in the
/// order of the rounds. Holds two numbers per channel and part.
class RoundChannels {
 public:
  struct Work {
    std::uint32_t round = 0;
    std::uint32_t part = 0;
  };

  RoundChannels(const PeerRounds& rounds, const Layout& layout, std::uint32_t parts);

  static std::uint32_t channels(const Layout& layout);
  std::uint32_t channels() const { return channels_; }
  std::uint32_t channel(const Work& work) const {
    return (reversed(work.round / rounds_per_base_ % channels_) + work.part) % channels_;
  }
  /// How many works a channel has, which of them comes first, second, ..., and the inverse.
  std::uint32_t works(std::uint32_t channel) const;
  Work work(std::uint32_t channel, std::uint32_t turn) const;
  std::uint32_t turn(const Work& work) const;

 private:
  std::uint32_t reversed(std::uint32_t number) const;

  std::uint32_t rounds_;
  std::uint32_t rounds_per_base_;
  std::uint32_t channels_;
  std::uint32_t parts_;
  /// By channel: the numbers modulo the channels of the bases that bring it a part, ascending; and by channel and part,
  /// which of them brings that part.
  std::vector<std::uint32_t> residues_;
  std::vector<std::uint32_t> places_;
};

}  // namespace athanor
