#include "algorithms/patterns/circulant.hpp"
#include "algorithms/patterns/pat_tree.hpp"

namespace athanor {

namespace {

/// How parallel aggregated trees cut a payload: where the layout's chunk has room for two or more channels' parts of a
/// block, one loop moves as many blocks per message as fit; else every message is one chunk of one block. A step moves
/// as many of these over one distance as the layout lets follow each other (NCCL's steps of a buffer: eight).
struct PatCut {
  PatCut(const Collective& collective, const Layout& layout)
      : blocks(aggregated(collective, layout)),
        aggregate(std::min(blocks * std::bit_floor(layout.as<AggregatedTreeShape>().messages_per_step),
                           PatTree::most_aggregate(collective.ranks))),
        tree(collective.ranks, aggregate),
        messages(tree, blocks),
        ranges(collective.count, collective.ranks, blocks > 1 ? whole(layout) : layout, 1) {}

  std::uint32_t blocks;     ///< of one message
  std::uint32_t aggregate;  ///< of one step
  PatTree tree;
  PatMessages messages;
  BlockRanges ranges;

  bool aggregates() const { return aggregate > 1; }
  /// Messages of one step at most, all of which are under way at once: of the first one after those that double.
  std::uint32_t at_once() const { return messages.of(tree.doubling()); }

 private:
  static Layout whole(Layout layout) {
    layout.chunk = Elements::max();
    return layout;
  }
  static std::uint32_t aggregated(const Collective& collective, const Layout& layout) {
    const std::uint32_t most = PatTree::most_aggregate(collective.ranks);
    const Elements chunk = slices_as_chunks(layout).chunk;
    if (chunk == Elements::max()) { return most; }
    const std::int64_t fit = chunk / BlockRanges(collective.count, collective.ranks, whole(layout), 1).widest();
    return std::bit_floor(static_cast<std::uint32_t>(std::clamp<std::int64_t>(fit, 1, most)));
  }
};

/// What all-gather and reduce-scatter by parallel aggregated trees share: one lane per channel, out-port b of which
/// leads to the rank 2^b places away. Messages of several blocks go through scratch, where a position of a full block's
/// width belongs to each place of a tree.
class PatBlocks : public Circulant<RankSchedule> {
 public:
  PatBlocks(const Collective& collective, const Layout& layout) : Circulant(collective), cut_(collective, layout) {}

  std::uint32_t lanes(AgentId) const final { return ranges().channels(); }
  Lane lane(AgentId, LaneId lane) const final {
    const std::uint32_t copies = cut_.aggregates() ? ranks() + 1 : 0;
    const std::uint32_t ports = cut_.tree.dimensions();
    return {2 * cut_.messages.all() + copies, ranges().loops(lane.value), ports, ports,
            ProgramId{ranges().shape(lane.value)}};
  }
  Memory memory(AgentId agent) const final {
    Memory memory = Circulant::memory(agent);
    memory.scratch = ranges().widest() * positions() * ranges().channels();
    return memory;
  }
  Elements message_limit() const final { return ranges().widest() * cut_.blocks; }
  Elements shift(Buffer buffer) const final { return buffer == Buffer::scratch ? Elements::zero() : ranges().shift(); }
  std::uint32_t least_slots() const final { return cut_.at_once(); }

 protected:
  struct Part {
    std::uint32_t rank;
    std::uint32_t channel;
    std::uint64_t loop;
  };

  /// Of scratch, in each channel.
  virtual std::uint32_t positions() const = 0;

  const PatCut& cut() const { return cut_; }
  const BlockRanges& ranges() const { return cut_.ranges; }

  Cells position(const Part& part, std::uint32_t number) const {
    return contiguous(Buffer::scratch, ranges().widest() * positions() * part.channel +
                                           ranges().width(part.channel, part.loop) * number);
  }
  /// A step's full blocks from a place on, in scratch.
  Cells blocks(const Part& part, const PatTree::Step& step, std::uint32_t place) const {
    Cells cells = position(part, place);
    cells.run = ranges().width(part.channel, part.loop);
    cells.stride = cells.run * step.stride;
    return cells;
  }
  Primitive over_blocks(const Part& part, const PatTree::Step& step) const {
    return over(ranges().width(part.channel, part.loop) * step.places);
  }

 private:
  PatCut cut_;
};

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
    const ElementRange range = ranges().part(owner, part.channel, part.loop);
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
    const ElementRange range = ranges().part(owner, part.channel, part.loop);
    Primitive primitive = over(range);
    primitive.operands[0] = own ? contiguous(Buffer::input, range.first) : position(part, place);
    primitive.store = own ? position(part, place) : contiguous(Buffer::output, ranges().first(owner) + range.first);
    return primitive;
  }
};

/// Messages of several blocks have full ones, also where the payload's are short.
Cost cost_of_all_gather(const Collective& collective) {
  const Elements full = block(collective.count, collective.ranks, 0).count;
  return {PatTree(collective.ranks, PatTree::most_aggregate(collective.ranks)).steps(), full * (collective.ranks - 1),
          Elements::zero()};
}

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
  Cells input(const Part& part, std::uint32_t place, const ElementRange& range) const {
    return contiguous(Buffer::input, ranges().first(after(part.rank, place)) + range.first);
  }
  Cells sum(const Part& part, std::uint32_t place, const ElementRange& range) const {
    if (place == 0) { return contiguous(Buffer::output, range.first); }
    return position(part, static_cast<std::uint32_t>(std::countr_zero(place)));
  }

  /// The farthest subtree of a place arrives first and is added to the input, the others to the sum so far.
  Primitive single(const Part& part, const PatTree::Step& step, bool sends) const {
    const std::uint32_t place = sends ? step.first : step.first - (1U << step.bit);
    const ElementRange range = ranges().part(after(part.rank, place), part.channel, part.loop);
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
    const ElementRange range = ranges().part(after(part.rank, place), part.channel, part.loop);
    Primitive primitive = over(range);
    primitive.operands[0] = input(part, place, range);
    primitive.store = position(part, place);
    return primitive;
  }
  Primitive finish(const Part& part) const {
    const ElementRange range = ranges().part(part.rank, part.channel, part.loop);
    Primitive primitive = over(range);
    primitive.operands[0] = position(part, 0);
    primitive.store = contiguous(Buffer::output, range.first);
    primitive.finish = true;
    return primitive;
  }
};

/// Messages of several blocks have full ones, also where the payload's are short; of up to three ranks each is one
/// block.
Cost cost_of_reduce_scatter(const Collective& collective) {
  const std::uint32_t ranks = collective.ranks;
  const std::uint32_t aggregate = PatTree::most_aggregate(ranks);
  const Elements most = block(collective.count, ranks, 0).count * (ranks - 1);
  const Elements others = collective.count - block(collective.count, ranks, ranks - 1).count;
  return {PatTree(ranks, aggregate).steps(), aggregate > 1 ? most : others, most};
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
      .cost_for_many = cost_of_all_gather,
  };
}

Algorithm pat_reduce_scatter() {
  Algorithm algorithm = pat_all_gather();
  algorithm.kind = CollectiveKind::reduce_scatter;
  algorithm.summary = "parallel aggregated trees: many near messages, then few far ones, as large as the chunk";
  algorithm.formula =
      "(log2 A + P'/A - 1) alpha + (P-1)/P n (beta + gamma) with A blocks per step, at most the power of two from "
      "P/2 on, and "
      "P' the next power of two (at most P-1 steps): from P-1 steps of one block to log2 P where P is one itself";
  algorithm.explanation =
      "Parallel aggregated trees, backwards: the sum for each rank goes up a binomial tree of its own, and all "
      "trees move at once, as many blocks per message as the chunk has room for: first many steps to near ranks, "
      "then few to far ones.";
  algorithm.make_for_many = make_schedule<PatReduceScatter>;
  algorithm.cost_for_many = cost_of_reduce_scatter;
  return algorithm;
}

}  // namespace athanor
