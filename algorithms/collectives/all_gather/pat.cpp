#include "algorithms/patterns/pat_cut.hpp"

namespace athanor {

namespace {

/// A rank at place v of a tree has the block of the rank v places after it, so that blocks travel downwards: out-port b
/// leads to the rank 2^b before. One block per step goes from output to output. Several go through scratch, where
/// position v, as wide as a full block, has the block of place v, and are copied to their places at the end.
class PatAllGather final : public PatBlocks {
 public:
  using PatBlocks::PatBlocks;

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Part part{agent.value, lane.value, loop};
    if (!cut().aggregates()) { return single(part, step); }
    if (step == 0) { return copy(part, 0, true); }
    const std::uint32_t moved = 2 * cut().messages.all();
    if (step > moved) { return copy(part, step - 1 - moved, false); }
    const PatMessages::Place place = cut().messages.at(step - 1);
    return several(part, cut().messages.part(place), place.first_half);
  }

 protected:
  std::uint32_t distance(PortId port) const override { return ranks() - (1U << port.value); }
  std::uint32_t positions() const override { return cut().aggregates() ? ranks() : 0; }

 private:
  /// The first message is a rank's own block, which goes to its output too.
  Primitive single(const Part& part, std::uint32_t number) const {
    const PatTree::Step step = cut().tree.step(number / 2);
    const bool sends = number % 2 == 0;
    const std::uint32_t owner = after(part.rank, sends ? step.first - (1U << step.bit) : step.first);
    const Piece range = ranges().part(owner, part.channel, part.loop);
    const Cells there = contiguous(Buffer::output, ranges().first(owner) + range.first);
    Primitive primitive = over(range);
    (sends ? primitive.sends : primitive.receives) = {step.bit, 1};
    if (sends) { primitive.operands[0] = owner == part.rank ? contiguous(Buffer::input, range.first) : there; }
    if (!sends || (number == 0 && !collective().in_place)) { primitive.store = there; }
    return primitive;
  }

  Primitive several(const Part& part, const PatTree::Step& step, bool sends) const {
    Primitive primitive = over_blocks(part, step);
    (sends ? primitive.sends : primitive.receives) = {step.bit, 1};
    (sends ? primitive.operands[0] : primitive.store) =
        blocks(part, step, sends ? step.first - (1U << step.bit) : step.first);
    return primitive;
  }

  Primitive copy(const Part& part, std::uint32_t place, bool own) const {
    const std::uint32_t owner = after(part.rank, place);
    const Piece range = ranges().part(owner, part.channel, part.loop);
    Primitive primitive = over(range);
    primitive.operands[0] = own ? contiguous(Buffer::input, range.first) : position(part, place);
    primitive.store = own ? position(part, place) : contiguous(Buffer::output, ranges().first(owner) + range.first);
    return primitive;
  }
};

/// Messages of several blocks have full ones, also where the payload's are short.
Cost cost(const Collective& collective) {
  const Elements full = block(collective.count, collective.ranks, 0).count;
  return {PatTree(collective.ranks, PatTree::most_aggregate(collective.ranks)).steps(), full * (collective.ranks - 1),
          Elements::zero()};
}

}  // namespace

Algorithm pat_all_gather() {
  return {
      .name = "pat",
      .kind = CollectiveKind::all_gather,
      .summary = "parallel aggregated trees: few far messages, then many near ones, as large as the chunk",
      .formula =
          "(log2 A + P'/A - 1) alpha + (P-1)/P n beta with A blocks per step, at most the power of two from P/2 on, "
          "and "
          "P' the next power of two (at most P-1 steps): from P-1 steps of one block to log2 P where P is one itself",
      .source = "Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, 2025",
      .explanation =
          "Parallel aggregated trees: every block goes down a binomial tree of its own, and all trees move at once, as "
          "many blocks per message as the chunk has room for: first few steps to far ranks, then many to near ones.",
      .ranks = "any number of ranks",
      .fabrics = "many ranks, one per node, small and middle payloads: few far messages and little memory",
      .make_for_many = make_schedule<PatAllGather>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
