#include "algorithms/catalog.hpp"
#include "algorithms/patterns/circulant.hpp"
#include "algorithms/patterns/pat_cut.hpp"

namespace athanor {

namespace {

/// A rank at place v of a tree has the block of the rank v places after it, so that blocks travel downwards: out-port b
/// leads to the rank 2^b before. One block per step goes from output to output. Several go through scratch, where
/// position v, as wide as a full block, has the block of place v, and are copied to their places at the end.
class PatAllGather final : public Circulant {
 public:
  PatAllGather(const Collective& collective, const Layout& layout) : Circulant(collective), cut_(collective, layout) {}

  std::uint32_t lanes(AgentId) const override { return ranges().channels(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t copies = cut_.aggregates() ? 1 + ranks() : 0;
    const std::uint32_t ports = cut_.tree.dimensions();
    return {2 * cut_.messages.all() + copies, ranges().loops(lane.value), ports, ports,
            ProgramId{ranges().shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{ranges().length(agent.value), collective().count, Elements::zero(), {}};
    if (cut_.aggregates()) { memory.scratch = ranges().widest() * ranks() * ranges().channels(); }
    if (collective().in_place) { memory.in_place = ranges().first(agent.value).count(); }
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Part part{agent.value, lane.value, loop};
    if (!cut_.aggregates()) { return single(part, step); }
    if (step == 0) { return copy(part, 0, true); }
    const std::uint32_t moved = 2 * cut_.messages.all();
    if (step > moved) { return copy(part, step - 1 - moved, false); }
    const PatMessages::Place place = cut_.messages.at(step - 1);
    return several(part, cut_.messages.part(place), place.first_half);
  }

  Elements message_limit() const override { return ranges().widest() * cut_.blocks; }
  Elements shift(Buffer buffer) const override {
    return buffer == Buffer::scratch ? Elements::zero() : ranges().shift();
  }
  std::uint32_t least_slots() const override { return cut_.at_once(); }

 protected:
  std::uint32_t distance(PortId port) const override { return ranks() - (1U << port.value); }

 private:
  struct Part {
    std::uint32_t rank;
    std::uint32_t channel;
    std::uint64_t loop;
  };

  const BlockRanges& ranges() const { return cut_.ranges; }

  /// The first message is a rank's own block, which goes to its output too.
  Primitive single(const Part& part, std::uint32_t number) const {
    const PatTree::Step step = cut_.tree.step(number / 2);
    const bool sends = number % 2 == 0;
    const std::uint32_t owner = after(part.rank, sends ? step.first - (1U << step.bit) : step.first);
    const Piece range = ranges().part(owner, part.channel, part.loop);
    const Cells there = contiguous(Buffer::output, ranges().first(owner) + range.first);
    Primitive primitive;
    primitive.count = range.count;
    (sends ? primitive.sends : primitive.receives) = {step.bit, 1};
    if (sends) { primitive.operands[0] = owner == part.rank ? contiguous(Buffer::input, range.first) : there; }
    if (!sends || (number == 0 && !collective().in_place)) { primitive.store = there; }
    return primitive;
  }

  Primitive several(const Part& part, const PatTree::Step& step, bool sends) const {
    const Elements width = ranges().width(part.channel, part.loop);
    Cells cells = position(part, sends ? step.first - (1U << step.bit) : step.first);
    cells.run = width;
    cells.stride = width * step.stride;
    Primitive primitive;
    primitive.count = width * step.places;
    (sends ? primitive.sends : primitive.receives) = {step.bit, 1};
    (sends ? primitive.operands[0] : primitive.store) = cells;
    return primitive;
  }

  Primitive copy(const Part& part, std::uint32_t place, bool own) const {
    const std::uint32_t owner = after(part.rank, place);
    const Piece range = ranges().part(owner, part.channel, part.loop);
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = own ? contiguous(Buffer::input, range.first) : position(part, place);
    primitive.store = own ? position(part, place) : contiguous(Buffer::output, ranges().first(owner) + range.first);
    return primitive;
  }

  Cells position(const Part& part, std::uint32_t place) const {
    return contiguous(Buffer::scratch,
                      ranges().widest() * ranks() * part.channel + ranges().width(part.channel, part.loop) * place);
  }

  PatCut cut_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<PatAllGather>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

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
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
