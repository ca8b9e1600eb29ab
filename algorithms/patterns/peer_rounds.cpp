#include "algorithms/patterns/peer_rounds.hpp"

#include <algorithm>
#include <bit>

#include "sim/check.hpp"

namespace athanor {

namespace {

Layout part_layout(const Layout& layout, std::uint32_t most_parts) {
  Layout result = slices_as_chunks(layout);
  result.channels = std::min(layout.as<PeerRoundShape>().parts, most_parts);
  return result;
}

/// Blocks of which ranks have one each, or one in all.
std::uint32_t blocks_of(const Collective& collective) {
  return collective.kind == CollectiveKind::send_receive ? 1 : collective.ranks;
}

constexpr std::uint32_t kMostInGroup = 8;  // NCCL_P2P_SCHEDULE_GROUP_SIZE

/// Ranks of a group: as many as divide a node, or all.
std::uint32_t group_of(std::uint32_t ranks, const Layout& layout) {
  if (layout.group == 0 || layout.group == ranks) { return ranks; }
  std::uint32_t group = std::min(layout.group, kMostInGroup);
  while (layout.group % group != 0) { --group; }
  return group;
}

}  // namespace

PeerMessages::PeerMessages(const Collective& collective, const Layout& layout, std::uint32_t most_parts)
    : collective_(collective),
      cut_(collective.count, blocks_of(collective), part_layout(layout, most_parts)),
      parts_(cut_.channels()),
      by_size_(layout.as<PeerRoundShape>().parts_by_size),
      grain_(layout.grain),
      chunk_(cut_.shift()),
      message_limit_(cut_.message_limit()) {
  if (collective.sizes == nullptr) { return; }
  const Layout parts = part_layout(layout, most_parts);
  const BlockCut largest(collective.sizes->largest_block(), 1, parts);
  parts_ = largest.channels();
  chunk_ = largest.shift();
  message_limit_ = largest.message_limit();
  if (!by_size_) { return; }
  chunk_ = std::min(parts.chunk, std::max(grain_, collective.sizes->largest_block()));
  message_limit_ = chunk_;
}

std::uint32_t PeerMessages::parts_of(Elements size) const {
  if (!by_size_) { return parts_; }
  const std::int64_t small = std::max<std::int64_t>(1, ceil_div(size.count(), by_size_->small.count()));
  auto parts = static_cast<std::uint32_t>(std::min<std::int64_t>({small, by_size_->least, parts_}));
  while (2 * parts <= parts_ && ceil_div(size.count(), parts) > by_size_->large.count()) { parts *= 2; }
  return parts;
}

Elements PeerMessages::granule(const Collective& collective, const Layout& layout, std::uint32_t most_parts) {
  if (collective.kind == CollectiveKind::all_to_all_v) { return Elements{1}; }
  return BlockCut::granule(blocks_of(collective), part_layout(layout, most_parts));
}

bool PeerMessages::exist(std::uint32_t from, std::uint32_t to) const {
  switch (collective_.kind) {
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v: return true;
    case CollectiveKind::scatter: return from == collective_.root;
    case CollectiveKind::gather: return to == collective_.root;
    case CollectiveKind::send_receive:
      return from == collective_.root && to == (collective_.root + 1) % collective_.ranks;
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::barrier: break;
  }
  require(false, "{} is not made of messages alone", name(collective_.kind));
  return false;
}

std::uint32_t PeerMessages::block(std::uint32_t from, std::uint32_t to) const {
  if (collective_.kind == CollectiveKind::send_receive) { return 0; }
  return collective_.kind == CollectiveKind::gather ? from : to;
}

Elements PeerMessages::size(std::uint32_t from, std::uint32_t to) const {
  return collective_.sizes ? collective_.sizes->size(from, to) : cut_.length(block(from, to));
}

Elements PeerMessages::in_input(std::uint32_t from, std::uint32_t to) const {
  if (collective_.sizes) { return collective_.sizes->input_offset(from, to); }
  const bool alone = collective_.kind == CollectiveKind::gather || collective_.kind == CollectiveKind::send_receive;
  return alone ? Elements::zero() : cut_.first(to);
}

Elements PeerMessages::in_output(std::uint32_t from, std::uint32_t to) const {
  if (collective_.sizes) { return collective_.sizes->output_offset(from, to); }
  if (collective_.kind == CollectiveKind::gather) { return cut_.first(from); }
  return collective_.kind == CollectiveKind::all_to_all ? cut_.length(to) * from : Elements::zero();
}

/// Of all-to-all-v.
ElementRange PeerMessages::part(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
  const Elements size = collective_.sizes->size(from, to);
  const Elements length = grain_ * ceil_div(ceil_div(size.count(), parts_of(size)), grain_.count());
  const Elements first = std::min(length * number, size);
  return {first, std::min(length, size - first)};
}

std::uint64_t PeerMessages::chunks(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
  if (!collective_.sizes) { return cut_.loops(number); }
  const Elements count = part(from, to, number).count;
  if (count == Elements::zero()) { return number == 0 ? 1 : 0; }
  return static_cast<std::uint64_t>(ceil_div(count.count(), chunk_.count()));
}

ElementRange PeerMessages::chunk(std::uint32_t from, std::uint32_t to, std::uint32_t number,
                                 std::uint64_t chunk) const {
  if (!collective_.sizes) { return cut_.slice(block(from, to), number, chunk, 0); }
  const ElementRange all = part(from, to, number);
  const Elements done = chunk_ * static_cast<std::int64_t>(chunk);
  return {all.first + done, std::min(chunk_, all.count - done)};
}

ElementRange PeerMessages::whole(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
  if (collective_.sizes) { return part(from, to, number); }
  const ElementRange first = chunk(from, to, number, 0);
  const ElementRange last = chunk(from, to, number, cut_.loops(number) - 1);
  return {first.first, last.first + last.count - first.first};
}

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
