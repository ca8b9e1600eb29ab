#include "algorithms/patterns/peer_rounds.hpp"

#include <algorithm>
#include <bit>

namespace athanor {

namespace {

constexpr std::uint32_t kMostInGroup = 8;  // NCCL_P2P_SCHEDULE_GROUP_SIZE

/// Ranks of a group: as many as divide a node, or all.
std::uint32_t group_of(std::uint32_t ranks, const Layout& layout) {
  if (layout.group == 0 || layout.group == ranks) { return ranks; }
  std::uint32_t group = std::min(layout.group, kMostInGroup);
  while (layout.group % group != 0) { --group; }
  return group;
}

}  // namespace

PeerRounds::PeerRounds(std::uint32_t ranks, const Layout& layout)
    : group_(group_of(ranks, layout)), groups_(ranks / group_), numbers_(groups_) {
  const std::uint32_t all = std::bit_ceil(groups_);
  std::uint32_t distance = 0;
  for (std::uint32_t i = 1; i <= all; ++i) {
    if (distance < groups_) {
      numbers_[distance] = static_cast<std::uint32_t>(distances_.size());
      distances_.push_back(distance);
    }
    distance = (distance + i) % all;
  }
}

std::uint32_t PeerRounds::receiver(std::uint32_t rank, std::uint32_t round) const {
  return at(rank, distances_[round / group_], round % group_);
}

std::uint32_t PeerRounds::sender(std::uint32_t rank, std::uint32_t round) const {
  return at(rank, groups_ - distances_[round / group_], group_ - round % group_);
}

std::uint32_t PeerRounds::round(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t distance = (to / group_ + groups_ - from / group_) % groups_;
  return numbers_[distance] * group_ + (to % group_ + group_ - from % group_) % group_;
}

RoundChannels::RoundChannels(const PeerRounds& rounds, const Layout& layout, std::uint32_t parts)
    : rounds_(rounds.rounds()),
      rounds_per_base_(rounds.ranks_in_group() == rounds.rounds() ? 1 : rounds.ranks_in_group()),
      channels_(channels(layout)),
      parts_(parts) {
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    std::vector<std::uint32_t> by_part;
    for (std::uint32_t part = 0; part < parts_; ++part) {
      by_part.push_back(reversed((channel + channels_ - part) % channels_));
    }
    std::vector<std::uint32_t> ascending = by_part;
    std::sort(ascending.begin(), ascending.end());
    for (const std::uint32_t residue : by_part) {
      const auto found = std::lower_bound(ascending.begin(), ascending.end(), residue);
      places_.push_back(static_cast<std::uint32_t>(found - ascending.begin()));
    }
    residues_.insert(residues_.end(), ascending.begin(), ascending.end());
  }
}

std::uint32_t RoundChannels::channels(const Layout& layout) { return std::bit_floor(layout.channels); }

std::uint32_t RoundChannels::reversed(std::uint32_t number) const {
  std::uint32_t result = 0;
  for (std::uint32_t bit = 1; bit < channels_; bit *= 2) {
    result = result * 2 + number % 2;
    number /= 2;
  }
  return result;
}

std::uint32_t RoundChannels::works(std::uint32_t channel) const {
  const std::uint32_t bases = rounds_ / rounds_per_base_;
  const auto first = residues_.begin() + std::ptrdiff_t{channel} * parts_;
  const auto left = std::lower_bound(first, first + parts_, bases % channels_) - first;
  return (bases / channels_ * parts_ + static_cast<std::uint32_t>(left)) * rounds_per_base_;
}

RoundChannels::Work RoundChannels::work(std::uint32_t channel, std::uint32_t turn) const {
  const std::uint32_t place = turn / rounds_per_base_;
  const std::uint32_t residue = residues_[std::size_t{channel} * parts_ + place % parts_];
  const std::uint32_t base = place / parts_ * channels_ + residue;
  return {base * rounds_per_base_ + turn % rounds_per_base_, (channel + channels_ - reversed(residue)) % channels_};
}

std::uint32_t RoundChannels::turn(const Work& work) const {
  const std::uint32_t base = work.round / rounds_per_base_;
  const std::uint32_t place = places_[std::size_t{channel(work)} * parts_ + work.part];
  return (base / channels_ * parts_ + place) * rounds_per_base_ + work.round % rounds_per_base_;
}

}  // namespace athanor
