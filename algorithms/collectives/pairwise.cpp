#include <algorithm>

#include "algorithms/patterns/circulant.hpp"

namespace athanor {

namespace {

/// Step 0 copies a rank's own block. Then in round s = 1 .. P-1 it sends to the rank s places after it (out-port s-1)
/// and receives from the one s places before it (in-port s-1).
class PairwiseAllToAll final : public Circulant<CutSchedule<BlockCut>> {
 public:
  PairwiseAllToAll(const Collective& collective, const Layout& layout)
      : Circulant(collective, BlockCut(collective.count, collective.ranks, slices_as_chunks(layout))) {}

  Lane lane(AgentId, LaneId lane) const override {
    return {2 * ranks() - 1, cut().loops(lane.value), ranks() - 1, ranks() - 1, ProgramId{cut().shape(lane.value)}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t me = agent.value;
    const std::uint32_t round = (step + 1) / 2;
    const bool sends = step == 0 || step % 2 == 1;
    const bool stores = step % 2 == 0;
    const std::uint32_t destination = sends ? after(me, round) : me;
    const ElementRange range = cut().slice(destination, lane.value, loop, 0);
    Primitive primitive = over(range);
    if (sends) { primitive.operands[0] = contiguous(Buffer::input, cut().first(destination) + range.first); }
    if (sends && round > 0) { primitive.sends = {round - 1, 1}; }
    if (stores && round > 0) { primitive.receives = {round - 1, 1}; }
    if (stores) { primitive.store = contiguous(Buffer::output, cut().length(me) * before(me, round) + range.first); }
    return primitive;
  }

 protected:
  std::uint32_t distance(PortId port) const override { return port.value + 1; }
};

/// Every rank sends all blocks of its input but its own, of which the last is the shortest.
Cost cost_of_all_to_all(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {collective.ranks - 1, collective.count - last, Elements::zero()};
}

/// Step 0 copies a rank's own block. Then in round s = 1 .. P-1 it sends to the rank s places after it (out-port s-1)
/// and receives from the one s places before it (in-port s-1), piece by piece: as many in each round as the largest
/// block of all needs, so that the rounds of all ranks are alike; many pieces may be empty.
class PairwiseAllToAllV final : public Circulant<RankSchedule> {
 public:
  PairwiseAllToAllV(const Collective& collective, const Layout& layout)
      : Circulant(collective), sizes_(*collective.sizes), channels_(layout.channels) {
    const Elements part = block(sizes_.largest_block(), channels_, 0).count;
    chunk_ = std::max(Elements{1}, std::min(slices_as_chunks(layout).chunk, part));
    pieces_ = static_cast<std::uint32_t>(std::max<std::int64_t>(1, ceil_div(part.count(), chunk_.count())));
  }

  std::uint32_t lanes(AgentId) const override { return channels_; }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t peers = ranks() - 1;
    return {1 + 2 * pieces_ * peers, 1, peers, peers, ProgramId{agent.value * channels_ + lane.value}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t, std::uint32_t step) const override {
    const std::uint32_t me = agent.value;
    if (step == 0) { return move(me, me, me, block(sizes_.size(me, me), channels_, lane.value)); }
    const std::uint32_t round = 1 + (step - 1) / (2 * pieces_);
    const std::uint32_t half = (step - 1) % (2 * pieces_);
    const std::uint32_t from = half % 2 == 0 ? me : before(me, round);
    const std::uint32_t to = half % 2 == 0 ? after(me, round) : me;
    Primitive primitive = move(me, from, to, piece(from, to, lane.value, half / 2));
    (from == me ? primitive.sends : primitive.receives) = {round - 1, 1};
    return primitive;
  }

  Elements message_limit() const override { return chunk_; }
  Elements shift(Buffer) const override { return Elements::zero(); }

 protected:
  std::uint32_t distance(PortId port) const override { return port.value + 1; }

 private:
  /// Of the channel's part of a block, counted from the begin of the block.
  ElementRange piece(std::uint32_t from, std::uint32_t to, std::uint32_t channel, std::uint32_t number) const {
    const ElementRange part = block(sizes_.size(from, to), channels_, channel);
    const Elements begin = std::min(chunk_ * number, part.count);
    return {part.first + begin, std::min(chunk_, part.count - begin)};
  }

  Primitive move(std::uint32_t me, std::uint32_t from, std::uint32_t to, const ElementRange& range) const {
    Primitive primitive = over(range);
    if (from == me) { primitive.operands[0] = contiguous(Buffer::input, sizes_.input_offset(from, to) + range.first); }
    if (to == me) { primitive.store = contiguous(Buffer::output, sizes_.output_offset(from, to) + range.first); }
    return primitive;
  }

  const AllToAllVSizes& sizes_;
  std::uint32_t channels_;
  Elements chunk_;
  std::uint32_t pieces_ = 1;
};

Cost cost_of_all_to_all_v(const Collective& collective) {
  const AllToAllVSizes& sizes = *collective.sizes;
  Cost result{collective.ranks - 1, Elements::zero(), Elements::zero()};
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    result.sent = std::max(result.sent, sizes.input(rank) - sizes.size(rank, rank));
  }
  return result;
}

}  // namespace

Algorithm pairwise_all_to_all() {
  return {
      .name = "pairwise",
      .kind = CollectiveKind::all_to_all,
      .summary = "in each round every rank sends to one other and receives from one other",
      .formula = "(P-1) alpha + (P-1)/P n beta",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation =
          "P-1 rounds; in round s every rank sends to the rank s places after it and receives from the one s places "
          "before, so that each sends and receives one block at a time.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads",
      .make_for_many = make_schedule<PairwiseAllToAll>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_all_to_all,
  };
}

Algorithm pairwise_all_to_all_v() {
  return {
      .name = "pairwise",
      .kind = CollectiveKind::all_to_all_v,
      .summary = "in each round every rank sends to one other and receives from one other",
      .formula =
          "(P-1) alpha + at most the sum of each round's largest block times beta where no block of another round is "
          "in its way",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation =
          "The rounds of the pairwise all-to-all with blocks of unequal sizes: a round lasts as long as its largest "
          "block, unless ranks run ahead.",
      .ranks = "any number of ranks and any table of sizes",
      .fabrics = "large payloads of nearly equal blocks",
      .make_for_many = make_schedule<PairwiseAllToAllV>,
      .cost_for_many = cost_of_all_to_all_v,
  };
}

}  // namespace athanor
