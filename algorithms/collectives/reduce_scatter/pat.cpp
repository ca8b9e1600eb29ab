#include "algorithms/patterns/pat_cut.hpp"

namespace athanor {

namespace {

/// The all-gather backwards: the sum at place v of a tree, for the rank v places after, goes up by its lowest set bit,
/// out-port b leading to the rank 2^b after. One block per step: the sum of a place with subtrees stands in scratch,
/// which has one position per lowest bit, as two places with the same one never wait at a time; that of the owner in
/// its output. Several: scratch has a position per place, into which the input is copied first.
class PatReduceScatter final : public PatBlocks {
 public:
  using PatBlocks::PatBlocks;

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Part part{agent.value, lane.value, loop};
    const std::uint32_t steps = cut().tree.steps();
    if (!cut().aggregates()) { return single(part, cut().tree.step(steps - 1 - step / 2), step % 2 == 0); }
    if (step < ranks()) { return take(part, step); }
    if (step == ranks() + 2 * cut().messages.all()) { return finish(part); }
    const PatMessages::Place place = cut().messages.backwards(step - ranks());
    return several(part, cut().messages.part(place), place.first_half);
  }

 protected:
  std::uint32_t distance(PortId port) const override { return 1U << port.value; }
  std::uint32_t positions() const override { return cut().aggregates() ? ranks() : cut().tree.dimensions(); }

 private:
  /// A place's block in the input, its part of the own output, or its sum so far.
  Cells input(const Part& part, std::uint32_t place, const Piece& range) const {
    return contiguous(Buffer::input, ranges().first(after(part.rank, place)) + range.first);
  }
  Cells sum(const Part& part, std::uint32_t place, const Piece& range) const {
    if (place == 0) { return contiguous(Buffer::output, range.first); }
    return position(part, static_cast<std::uint32_t>(std::countr_zero(place)));
  }

  /// The farthest subtree of a place arrives first and is added to the input, the others to the sum so far.
  Primitive single(const Part& part, const PatTree::Step& step, bool sends) const {
    const std::uint32_t place = sends ? step.first : step.first - (1U << step.bit);
    const Piece range = ranges().part(after(part.rank, place), part.channel, part.loop);
    const bool has_sum = has_child(place, sends ? 0 : step.bit + 1);
    Primitive primitive = over(range);
    primitive.operands[0] = has_sum ? sum(part, place, range) : input(part, place, range);
    (sends ? primitive.sends : primitive.receives) = {step.bit, 1};
    if (!sends) {
      primitive.store = sum(part, place, range);
      primitive.finish = step.first == 1;
    }
    return primitive;
  }
  bool has_child(std::uint32_t place, std::uint32_t bit) const {
    const bool below_lowest = place == 0 || bit < static_cast<std::uint32_t>(std::countr_zero(place));
    return below_lowest && (std::uint64_t{place} + (std::uint64_t{1} << bit)) < ranks();
  }

  Primitive several(const Part& part, const PatTree::Step& step, bool sends) const {
    Primitive primitive = over_blocks(part, step);
    primitive.operands[0] = blocks(part, step, sends ? step.first : step.first - (1U << step.bit));
    (sends ? primitive.sends : primitive.receives) = {step.bit, 1};
    if (!sends) { primitive.store = primitive.operands[0]; }
    return primitive;
  }

  Primitive take(const Part& part, std::uint32_t place) const {
    const Piece range = ranges().part(after(part.rank, place), part.channel, part.loop);
    Primitive primitive = over(range);
    primitive.operands[0] = input(part, place, range);
    primitive.store = position(part, place);
    return primitive;
  }
  Primitive finish(const Part& part) const {
    const Piece range = ranges().part(part.rank, part.channel, part.loop);
    Primitive primitive = over(range);
    primitive.operands[0] = position(part, 0);
    primitive.store = contiguous(Buffer::output, range.first);
    primitive.finish = true;
    return primitive;
  }
};

/// Messages of several blocks have full ones, also where the payload's are short; of up to three ranks each is one
/// block.
Cost cost(const Collective& collective) {
  const std::uint32_t ranks = collective.ranks;
  const std::uint32_t aggregate = PatTree::most_aggregate(ranks);
  const Elements most = block(collective.count, ranks, 0).count * (ranks - 1);
  const Elements others = collective.count - block(collective.count, ranks, ranks - 1).count;
  return {PatTree(ranks, aggregate).steps(), aggregate > 1 ? most : others, most};
}

}  // namespace

Algorithm pat_reduce_scatter() {
  return {
      .name = "pat",
      .kind = CollectiveKind::reduce_scatter,
      .summary = "parallel aggregated trees: many near messages, then few far ones, as large as the chunk",
      .formula =
          "(log2 A + P'/A - 1) alpha + (P-1)/P n (beta + gamma) with A blocks per step, at most the power of two from "
          "P/2 on, and "
          "P' the next power of two (at most P-1 steps): from P-1 steps of one block to log2 P where P is one itself",
      .source = "Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, 2025",
      .explanation =
          "Parallel aggregated trees, backwards: the sum for each rank goes up a binomial tree of its own, and all "
          "trees move at once, as many blocks per message as the chunk has room for: first many steps to near ranks, "
          "then few to far ones.",
      .ranks = "any number of ranks",
      .fabrics = "many ranks, one per node, small and middle payloads: few far messages and little memory",
      .make_for_many = make_schedule<PatReduceScatter>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
