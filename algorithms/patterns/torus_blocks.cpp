#include "algorithms/patterns/torus_blocks.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace

TorusBlocks::TorusBlocks(const Collective& collective, const Layout& layout, const Dimensions& dimensions)
    : CutSchedule(collective, BlockRanges(collective.count, collective.ranks, copied(layout, dimensions),
                                          most_blocks(collective, dimensions))),
      rings_(dimensions, kEveryPort) {}

Elements TorusBlocks::granule(const Collective& collective, const Layout& layout, const Dimensions& dimensions) {
  return BlockRanges::granule(collective.ranks, copied(layout, dimensions));
}

/// The dimensions to come are one or two series of successive ones. Of two, the one with fewer ranks is taken apart.
TorusBlocks::Shape TorusBlocks::shape(std::uint32_t channel, std::uint32_t order) const {
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

std::uint32_t TorusBlocks::group(std::uint32_t rank, std::uint32_t channel, std::uint32_t order,
                                 std::uint32_t position) const {
  const Grid& grid = rings_.grid();
  std::uint32_t block = rings_.turned(channel, order, position) * grid.stride(rings_.dimension(channel, order));
  for (std::uint32_t before = 0; before < order; ++before) {
    const std::uint32_t dimension = rings_.dimension(channel, before);
    block += grid.coordinate(rank, dimension) * grid.stride(dimension);
  }
  return block;
}

Lane TorusBlocks::lane(AgentId, LaneId lane) const {
  const std::uint32_t channel = lane.value / dimensions();
  const std::uint32_t number = lane.value % dimensions();
  const std::uint32_t order = order_of(number);
  const std::uint32_t kind = cut().shape(channel) * rings_.rotations() + rings_.rotation(channel);
  return {shape(channel, order).parts * rings_.side(channel, order), cut().loops(channel), 1, 1,
          ProgramId{kind * dimensions() + number}};
}

Endpoint TorusBlocks::beside(AgentId agent, LaneId lane, PortId port, bool next) const {
  const std::uint32_t order = order_of(lane.value % dimensions());
  return {AgentId{rings_.beside(agent.value, lane.value / dimensions(), order, next)}, lane, port};
}

Primitive TorusBlocks::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const {
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
  primitive.count = cut().elements_apart(message.first_block, message.blocks, message.distance, message.channel, loop);
  if (!message.begins()) { primitive.receives = {0, 1}; }
  if (!message.ends()) { primitive.sends = {0, 1}; }
  fill(message, agent, primitive);
  if (step == 0 && lane.value % dimensions() > 0) {
    const LaneId before{lane.value - 1};
    primitive.wait = Wait{before, this->lane(agent, before).steps * (loop + 1)};
  }
  return primitive;
}

Cells TorusBlocks::cells(Buffer buffer, const Message& message) const {
  return cut().cells(buffer, message.first_block, message.channel, message.loop, message.distance);
}

Elements TorusBlocks::message_limit() const {
  std::uint32_t most = 1;
  for (std::uint32_t rotation = 0; rotation < rings_.rotations(); ++rotation) {
    most = std::max(most, shape(rings_.channel(rotation), 0).blocks);
  }
  return cut().widest() * most;
}

/// Around two ranks nothing is passed on.
std::uint32_t TorusBlocks::least_slots() const {
  for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
    for (std::uint32_t order = 0; order < dimensions(); ++order) {
      if (rings_.side(channel, order) > 2) { return 2; }
    }
  }
  return 1;
}

Elements TorusBlocks::elements(std::uint32_t rank, std::uint32_t channel, std::uint32_t order,
                               std::uint32_t position) const {
  const Shape shape = this->shape(channel, order);
  const std::uint32_t first = group(rank, channel, order, position % rings_.side(channel, order));
  Elements sum;
  for (std::uint32_t part = 0; part < shape.parts; ++part) {
    sum += cut().elements_apart(first + part * shape.between_parts, shape.blocks, shape.distance, channel, 0);
  }
  return sum;
}

/// A rank sends every group but the one that ends there, and adds to every one but that which sets out there.
Cost TorusBlocks::work_of(std::uint32_t rank) const {
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

Cost TorusBlocks::cost() const {
  Cost result;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const Cost work = work_of(rank);
    result = {std::max(result.steps, work.steps), std::max(result.sent, work.sent),
              std::max(result.reduced, work.reduced)};
  }
  return result;
}

}  // namespace athanor
