#include "algorithms/patterns/peer_messages.hpp"

#include <algorithm>

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
Piece PeerMessages::part(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
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

Piece PeerMessages::chunk(std::uint32_t from, std::uint32_t to, std::uint32_t number, std::uint64_t chunk) const {
  if (!collective_.sizes) { return cut_.slice(block(from, to), number, chunk, 0); }
  const Piece all = part(from, to, number);
  const Elements done = chunk_ * static_cast<std::int64_t>(chunk);
  return {all.first + done, std::min(chunk_, all.count - done)};
}

Piece PeerMessages::whole(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
  if (collective_.sizes) { return part(from, to, number); }
  const Piece first = chunk(from, to, number, 0);
  const Piece last = chunk(from, to, number, cut_.loops(number) - 1);
  return {first.first, last.first + last.count - first.first};
}

}  // namespace athanor
