#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/schedule/collective.hpp"

namespace athanor {

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
  std::uint32_t at(std::uint32_t rank, std::uint32_t groups_on, std::uint32_t places_on) const {
    return (rank / group_ + groups_on) % groups_ * group_ + (rank % group_ + places_on) % group_;
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
