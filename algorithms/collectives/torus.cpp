#include <algorithm>
#include <utility>

#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

Layout copied(Layout layout, const Dimensions& dimensions) {
  layout.channels *= TorusRings(dimensions, kEveryPort).copies();
  return layout;
}

/// The most blocks of one message: those of all ranks with one coordinate on the shortest ring.
std::uint32_t most_blocks(const Collective& collective, const Dimensions& dimensions) {
  const Grid grid(dimensions);
  std::uint32_t shortest = collective.ranks;
  for (std::uint32_t dimension = 0; dimension < grid.dimensions(); ++dimension) {
    shortest = std::min(shortest, grid.side(dimension));
  }
  return collective.ranks / shortest;
}

/// What reduce-scatter and all-gather on a grid of rings share: 2D copies, one for each dimension to begin with and
/// each way round, each with its part of every block. In dimension `order` of a copy, messages hold the blocks of all
/// ranks with one coordinate there and with this rank's coordinates in the dimensions before: a group per position of
/// the ring.
///
/// Blocks of a group lie at one distance from each other where the dimensions to come stand side by side; else a group
/// is sent in parts, each of which goes all the way round before the next. A channel has a lane per dimension, which
/// waits for the one before to have ended the same loop.
class TorusBlocks : public CutSchedule<BlockRanges> {
 public:
  TorusBlocks(const Collective& collective, const Layout& layout, const Dimensions& dimensions)
      : CutSchedule(collective, BlockRanges(collective.count, collective.ranks, copied(layout, dimensions),
                                            most_blocks(collective, dimensions))),
        rings_(dimensions, kEveryPort) {}

  static Elements granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions) {
    return BlockRanges::granule(collective.ranks, copied(layout, dimensions));
  }

  std::uint32_t lanes(AgentId) const final { return cut().channels() * rings_.dimensions(); }
  Lane lane(AgentId, LaneId lane) const final {
    const std::uint32_t channel = lane.value / dimensions();
    const std::uint32_t number = lane.value % dimensions();
    const std::uint32_t order = order_of(number);
    const std::uint32_t kind = cut().shape(channel) * rings_.rotations() + rings_.rotation(channel);
    return {shape(channel, order).parts * rings_.side(channel, order), cut().loops(channel), 1, 1,
            ProgramId{kind * dimensions() + number}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return beside(agent, lane, out, true); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return beside(agent, lane, in, false); }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final {
    Message message;
    message.channel = lane.value / dimensions();
    message.loop = loop;
    message.order = order_of(lane.value % dimensions());
    message.side = rings_.side(message.channel, message.order);
    message.call = step % message.side;
    const Shape shape = this->shape(message.channel, message.order);
    const std::uint32_t here = rings_.position(agent.value, message.channel, message.order);
    const std::uint32_t turned = (here + 2 * message.side - first_group() - message.call) % message.side;
    message.first_block =
        group(agent.value, message.channel, message.order, turned) + step / message.side * shape.between_parts;
    message.blocks = shape.blocks;
    message.distance = shape.distance;
    Primitive primitive;
    primitive.count =
        cut().elements_apart(message.first_block, message.blocks, message.distance, message.channel, loop);
    if (!message.begins()) { primitive.receives = {0, 1}; }
    if (!message.ends()) { primitive.sends = {0, 1}; }
    fill(message, agent, primitive);
    if (step == 0 && lane.value % dimensions() > 0) {
      const LaneId before{lane.value - 1};
      primitive.wait = Wait{before, this->lane(agent, before).steps * (loop + 1)};
    }
    return primitive;
  }
  Elements message_limit() const final {
    std::uint32_t most = 1;
    for (std::uint32_t rotation = 0; rotation < rings_.rotations(); ++rotation) {
      most = std::max(most, shape(rings_.channel(rotation), 0).blocks);
    }
    return cut().widest() * most;
  }
  /// Around two ranks nothing is passed on.
  std::uint32_t least_slots() const final {
    for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
      for (std::uint32_t order = 0; order < dimensions(); ++order) {
        if (rings_.side(channel, order) > 2) { return 2; }
      }
    }
    return 1;
  }

  /// Of a layout with one loop.
  Cost cost() const {
    Cost result;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      const Cost work = work_of(rank);
      result = {std::max(result.steps, work.steps), std::max(result.sent, work.sent),
                std::max(result.reduced, work.reduced)};
    }
    return result;
  }

 protected:
  /// One lane's message: its blocks, and where on the ring it is.
  struct Message {
    std::uint32_t channel = 0;
    std::uint64_t loop = 0;
    std::uint32_t order = 0;
    std::uint32_t first_block = 0;
    std::uint32_t blocks = 1;
    std::uint32_t distance = 1;  ///< from one block to the next
    std::uint32_t call = 0;      ///< 0: it sets out here; side - 1: it ends here
    std::uint32_t side = 1;

    bool begins() const { return call == 0; }
    bool ends() const { return call + 1 == side; }
  };

  std::uint32_t dimensions() const { return rings_.dimensions(); }
  Cells cells(Buffer buffer, const Message& message) const {
    return cut().cells(buffer, message.first_block, message.channel, message.loop, message.distance);
  }

 private:
  /// The order in which lane `number` of a channel comes, of which lane 0 is the first.
  virtual std::uint32_t order_of(std::uint32_t number) const = 0;
  /// Places on the ring that a group is before this rank when it sets out from here.
  virtual std::uint32_t first_group() const = 0;
  /// Adds operand, store and finish.
  virtual void fill(const Message& message, AgentId agent, Primitive& primitive) const = 0;
  /// Does a rank that receives add?
  virtual bool reduces() const = 0;

  /// How the blocks of a group lie: `parts` of them, each a series at one distance.
  struct Shape {
    std::uint32_t parts = 1;
    std::uint32_t between_parts = 0;
    std::uint32_t blocks = 1;
    std::uint32_t distance = 1;
  };
  /// The dimensions to come are one or two series of successive ones. Of two, the one with fewer ranks is taken apart.
  Shape shape(std::uint32_t channel, std::uint32_t order) const {
    const Grid& grid = rings_.grid();
    std::array<bool, Dimensions{}.size()> comes{};
    for (std::uint32_t later = order + 1; later < dimensions(); ++later) {
      comes.at(rings_.dimension(channel, later)) = true;
    }
    Shape shape;
    Shape other;
    for (std::uint32_t dimension = 0; dimension < dimensions(); ++dimension) {
      if (!comes.at(dimension)) { continue; }
      if (dimension > 0 && !comes.at(dimension - 1)) { std::swap(shape, other); }
      shape.blocks *= grid.side(dimension);
      shape.distance = grid.stride(dimension);
    }
    if (shape.blocks < other.blocks) { std::swap(shape, other); }
    shape.parts = other.blocks;
    shape.between_parts = other.distance;
    return shape;
  }
  /// The first block of the group at a position.
  std::uint32_t group(std::uint32_t rank, std::uint32_t channel, std::uint32_t order, std::uint32_t position) const {
    const Grid& grid = rings_.grid();
    std::uint32_t block = rings_.turned(channel, order, position) * grid.stride(rings_.dimension(channel, order));
    for (std::uint32_t before = 0; before < order; ++before) {
      const std::uint32_t dimension = rings_.dimension(channel, before);
      block += grid.coordinate(rank, dimension) * grid.stride(dimension);
    }
    return block;
  }
  Elements elements(std::uint32_t rank, std::uint32_t channel, std::uint32_t order, std::uint32_t position) const {
    const Shape shape = this->shape(channel, order);
    const std::uint32_t first = group(rank, channel, order, position % rings_.side(channel, order));
    Elements sum;
    for (std::uint32_t part = 0; part < shape.parts; ++part) {
      sum += cut().elements_apart(first + part * shape.between_parts, shape.blocks, shape.distance, channel, 0);
    }
    return sum;
  }
  /// A rank sends every group but the one that ends there, and adds to every one but that which sets out there.
  Cost work_of(std::uint32_t rank) const {
    Cost work;
    for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
      std::uint32_t steps = 0;
      for (std::uint32_t order = 0; order < dimensions(); ++order) {
        const std::uint32_t side = rings_.side(channel, order);
        const std::uint32_t first = rings_.position(rank, channel, order) + 2 * side - first_group();
        steps += shape(channel, order).parts * (side - 1);
        for (std::uint32_t call = 0; call < side; ++call) {
          const Elements moved = elements(rank, channel, order, first - call);
          if (call + 1 < side) { work.sent += moved; }
          if (call > 0 && reduces()) { work.reduced += moved; }
        }
      }
      work.steps = std::max(work.steps, steps);
    }
    return work;
  }
  Endpoint beside(AgentId agent, LaneId lane, PortId port, bool next) const {
    const std::uint32_t order = order_of(lane.value % dimensions());
    return {AgentId{rings_.beside(agent.value, lane.value / dimensions(), order, next)}, lane, port};
  }

  TorusRings rings_;
};

/// Around the rings of the last dimension of a copy first: what a rank holds grows by the factor of a side each time.
class TorusAllGather final : public TorusBlocks {
 public:
  using TorusBlocks::TorusBlocks;

 private:
  std::uint32_t order_of(std::uint32_t number) const override { return dimensions() - 1 - number; }
  std::uint32_t first_group() const override { return 0; }
  bool reduces() const override { return false; }

  /// What sets out in the first dimension is the rank's own block, and comes from its input.
  void fill(const Message& message, AgentId agent, Primitive& primitive) const override {
    const bool own = message.begins() && message.order + 1 == dimensions();
    if (own) {
      const ElementRange part = cut().part(agent.value, message.channel, message.loop);
      primitive.operands[0] = contiguous(Buffer::input, part.first);
    } else if (message.begins()) {
      primitive.operands[0] = cells(Buffer::output, message);
    }
    if (!message.begins() || (own && !collective().in_place)) { primitive.store = cells(Buffer::output, message); }
  }
};

/// Around the rings of the first dimension of a copy first: what is left to sum up shrinks by the factor of a side each
/// time, and stands in scratch at the places of the blocks.
class TorusReduceScatter final : public TorusBlocks {
 public:
  using TorusBlocks::TorusBlocks;

  Memory memory(AgentId agent) const override {
    Memory memory = TorusBlocks::memory(agent);
    if (dimensions() > 1) { memory.scratch = collective().count; }
    return memory;
  }

 private:
  std::uint32_t order_of(std::uint32_t number) const override { return number; }
  /// A sum sets out from the rank after its owner, and goes all the way round.
  std::uint32_t first_group() const override { return 1; }
  bool reduces() const override { return true; }

  void fill(const Message& message, AgentId agent, Primitive& primitive) const override {
    primitive.operands[0] = cells(message.order == 0 ? Buffer::input : Buffer::scratch, message);
    if (!message.ends()) { return; }
    primitive.finish = message.order + 1 == dimensions();
    if (!primitive.finish) {
      primitive.store = cells(Buffer::scratch, message);
      return;
    }
    const ElementRange part = cut().part(agent.value, message.channel, message.loop);
    primitive.store = contiguous(Buffer::output, part.first);
  }
};

}  // namespace

Algorithm torus_all_gather() {
  return on_any_grid<TorusAllGather>(
      {
          .name = "torus",
          .kind = CollectiveKind::all_gather,
          .summary =
              "gathered along each dimension of a torus in turn; 2D copies at once use all ports of D dimensions",
          .formula = "sum (X_d - 1) alpha + (P-1)/(2 D P) n beta, beta that of one of 2D ports; for equal sides X_d "
                     "and D up to 2",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation =
              "As the all-gather in torus: around the rings of one dimension, then, with all that this has brought, "
              "around "
              "those of the next. Of 2D copies one begins in each dimension and each way round, with its part of every "
              "block. From three dimensions on, copies that begin in the middle send what lies in several places in as "
              "many "
              "messages.",
          .ranks = "any number of ranks; up to six dimensions as given, else three sides of the least sum",
          .fabrics = "a torus of D dimensions with 2D ports per rank; equal sides, or the copies differ in length",
      },
      3);
}

Algorithm torus_reduce_scatter() {
  return on_any_grid<TorusReduceScatter>(
      {
          .name = "torus",
          .kind = CollectiveKind::reduce_scatter,
          .summary = "reduced along each dimension of a torus in turn; 2D copies at once use all ports of D dimensions",
          .formula = "sum (X_d - 1) alpha + (P-1)/(2 D P) n beta + (P-1)/P n gamma, beta that of one of 2D ports; for "
                     "equal sides "
                     "X_d and D up to 2",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation = "As the reduce-scatter in torus: around the rings of one dimension, then, for the part that "
                         "this has left to "
                         "the rank, around those of the next. Of 2D copies one begins in each dimension and each way "
                         "round, with its "
                         "part of every block. From three dimensions on, copies that begin in the middle send what "
                         "lies in several "
                         "places in as many messages.",
          .ranks = "any number of ranks; up to six dimensions as given, else three sides of the least sum",
          .fabrics = "a torus of D dimensions with 2D ports per rank; equal sides, or the copies differ in length",
      },
      3);
}

}  // namespace athanor
